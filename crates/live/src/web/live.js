// The page is complete as it comes. This brings what is new, and says when nothing can come.
(() => {
  const status = document.getElementById("status");
  let boot = status.dataset.boot;
  let lost = false;
  let again = 0;
  const say = (words, kind) => {
    if (status.textContent !== words) status.textContent = words;
    status.className = kind;
  };
  const time = () => new Date().toLocaleTimeString();
  const put = (place, html) => {
    // Who works with the keyboard stays where they are, and who scrolled stays there, too.
    const active = document.activeElement;
    const inside = place.contains(active);
    const keep = inside ? active.dataset.keep : null;
    const label = inside ? active.getAttribute("aria-label") : null;
    const open = [...place.querySelectorAll("details")].map((details) => details.open);
    const scrolls = [...place.querySelectorAll("[tabindex]")].map((part) => [part.scrollLeft, part.scrollTop]);
    place.innerHTML = html;
    place.querySelectorAll("[tabindex]").forEach((part, n) => {
      if (scrolls[n]) [part.scrollLeft, part.scrollTop] = scrolls[n];
    });
    place.querySelectorAll("details").forEach((details, n) => {
      if (open[n]) details.open = true;
    });
    const find = (name, value) => [...place.querySelectorAll("[" + name + "]")].find((e) => e.getAttribute(name) === value);
    const target = keep ? find("data-keep", keep) : label ? find("aria-label", label) : null;
    if (target) target.focus({ preventScroll: true });
  };
  const listen = () => {
    const source = new EventSource("/events" + location.search);
    source.addEventListener("hello", (event) => {
      const told = JSON.parse(event.data);
      if (told.boot !== boot) {
        boot = told.boot;
        again += 1;
        document.title = told.title + ": Plimsoll";
        say("Connected again at " + time() + ". The coordinator was started again: this is its new run.", "warn");
      } else if (lost) {
        say("Connected again at " + time() + ". Nothing is missing.", "good");
      } else if (again === 0) {
        say("Live.", "good");
      }
      lost = false;
    });
    source.addEventListener("fragment", (event) => {
      const { id, html } = JSON.parse(event.data);
      const place = document.getElementById(id);
      if (place) put(place, html);
    });
    source.addEventListener("over", (event) => {
      source.close();
      say(JSON.parse(event.data).words, "good");
    });
    source.addEventListener("error", () => {
      if (!lost) say("Connection lost at " + time() + "; trying again. What is shown is as it was then.", "bad");
      lost = true;
      // A browser tries again by itself unless the answer was no stream at all.
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2000);
    });
  };
  listen();
})();
