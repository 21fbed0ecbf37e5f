// The page is complete without this. It shows the values under the pointer faster than the browser's own tooltips do.
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
})();
