// The page is complete without this. It shows the values under the pointer faster than the browser's own tooltips do, gives charts and tables as files, and copies the command.
(() => {
  const box = document.createElement("div");
  box.className = "readout";
  box.hidden = true;
  document.body.append(box);
  const ns = "http://www.w3.org/2000/svg";
  let line = null;
  const clear = () => {
    box.hidden = true;
    if (line) line.remove();
    line = null;
  };
  // A chart may have come after the page: its words are taken when they are first asked for.
  const words = (hit) => {
    const title = hit.querySelector("title");
    if (title) {
      hit.dataset.words = title.textContent;
      title.remove();
    }
    return hit.dataset.words;
  };
  document.addEventListener("pointermove", (event) => {
    const hit = event.target.closest ? event.target.closest(".hit") : null;
    if (!hit) return clear();
    box.textContent = words(hit);
    box.hidden = false;
    const left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
    box.style.left = Math.max(left, 8) + "px";
    box.style.top = Math.max(event.clientY - box.offsetHeight - 12, 8) + "px";
    // A place of a curve has no cursor: others may stand above and below it.
    if (!hit.dataset.x) {
      if (line) line.remove();
      line = null;
      return;
    }
    if (!line || line.parentNode !== hit.parentNode) {
      if (line) line.remove();
      line = document.createElementNS(ns, "line");
      line.setAttribute("class", "cursor");
      hit.parentNode.append(line);
    }
    const x = hit.dataset.x;
    const strip = hit.getBBox();
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    line.setAttribute("y1", strip.y);
    line.setAttribute("y2", strip.y + strip.height);
  });
  const button = (place, name, what, act) => {
    const one = document.createElement("button");
    one.className = "take";
    one.type = "button";
    one.textContent = name;
    one.title = what;
    one.addEventListener("click", act);
    place.append(one);
  };
  const save = (name, type, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const named = (text, ending) => (text.trim().replace(/[^A-Za-z0-9.]+/g, "-").replace(/^-|-$/g, "").toLowerCase().slice(0, 60) || "plimsoll") + ending;
  // A drawing away from its page has no style sheet: what it looks like goes with it.
  const looks = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin", "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "shape-rendering"];
  const drawing = (svg) => {
    const copy = svg.cloneNode(true);
    const all = svg.querySelectorAll("*");
    copy.querySelectorAll("*").forEach((one, at) => {
      const style = getComputedStyle(all[at]);
      one.setAttribute("style", looks.map((look) => look + ":" + style.getPropertyValue(look)).join(";"));
    });
    copy.querySelectorAll(".hit, .cursor").forEach((one) => one.remove());
    copy.setAttribute("xmlns", ns);
    copy.setAttribute("style", "background:" + getComputedStyle(document.body).backgroundColor);
    return new XMLSerializer().serializeToString(copy);
  };
  const lines = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => {
    const words = cell.cloneNode(true);
    words.querySelectorAll("sup").forEach((one) => one.remove());
    return '"' + words.textContent.trim().replaceAll('"', '""') + '"';
  }).join(",")).join("\r\n") + "\r\n";
  // Of a report alone: a live page draws its charts anew.
  document.querySelectorAll("article.run, main > section").forEach((part) => {
    part.querySelectorAll("figure").forEach((figure) => {
      const [caption, svg] = [figure.querySelector("figcaption"), figure.querySelector("svg")];
      if (!caption || !svg || caption.querySelector(".take")) return;
      const title = caption.firstChild ? caption.firstChild.textContent : "";
      button(caption, "SVG", "Save this chart", () => save(named(title, ".svg"), "image/svg+xml", drawing(svg)));
    });
    part.querySelectorAll("section").forEach((section) => table(section));
    if (part.matches("section")) table(part);
    part.querySelectorAll("dd > code").forEach((code) => {
      button(code.parentNode, "Copy", "Copy this command", (event) => {
        const done = () => { event.target.textContent = "Copied"; };
        if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, () => getSelection().selectAllChildren(code));
        else getSelection().selectAllChildren(code);
      });
    });
  });
  function table(section) {
    const [head, first] = [section.querySelector("h2"), section.querySelector(".scroll table")];
    if (!head || !first || head.querySelector(".take")) return;
    const title = head.textContent;
    button(head, "CSV", "Save the first table of this section", () => save(named(title, ".csv"), "text/csv", lines(first)));
  }
})();
