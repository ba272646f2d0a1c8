
(() => {
  "use strict";
  const bar = document.querySelector(".live");
  const [state, said] = [bar.querySelector(".state"), bar.querySelector("[role=status]")];
  const pause = bar.querySelector("button");
  const generator = (root) => root.querySelector("meta[name=generator]").content;

  // name tells nodes apart of which one in the new page is the same as one in this.
  const name = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
    if (node.dataset.key) return `${node.nodeName} ${node.dataset.key}`;
    const inner = { SECTION: "h2", FIGURE: "figcaption", DETAILS: "summary", TR: "th[scope=row]" }[node.nodeName];
    const own = inner ? node.querySelector(inner)?.textContent : node.matches(".scroll") ? node.getAttribute("aria-label") : node.getAttribute("class");
    return `${node.nodeName} ${(own ?? "").split(inner ? "\n" : " ")[0]}`;
  };

  // What readers have done stays: how a table is sorted, what is open, what is told.
  const theirs = { TH: "aria-sort", DETAILS: "open", BUTTON: "aria-expanded" };

  const attributes = (was, now) => {
    for (const { name } of [...was.attributes]) if (!now.hasAttribute(name) && name !== theirs[was.nodeName]) was.removeAttribute(name);
    for (const { name, value } of now.attributes) if (was.getAttribute(name) !== value && !(name === theirs[was.nodeName] && was.hasAttribute(name))) was.setAttribute(name, value);
  };

  // morph makes of a node what it is now, and keeps of it what is the same: the focus,
  // what is selected and how far it is scrolled stay with it.
  const morph = (was, now) => {
    if (was.isEqualNode(now) || was.matches?.(".detail, .shown")) return was;
    if (was.nodeType !== Node.ELEMENT_NODE) {
      was.data = now.data;
      return was;
    }
    if (was.matches("figure > svg")) return document.adoptNode(now);
    attributes(was, now);
    if (was.nodeName === "TBODY") rows(was, now);
    else children(was, now);
    return was;
  };

  // kin are nodes of which one may become the other.
  const kin = (node) => node.nodeName === "TR" ? null : `${node.nodeName} ${(node.getAttribute?.("class") ?? "").split(" ")[0]}`;

  const group = (nodes, by) => {
    const known = new Map();
    for (const node of nodes) known.set(by(node), [...(known.get(by(node)) ?? []), node]);
    return known;
  };

  // paired are the new nodes, or what old ones have become of them: first those of a
  // name, then, since headings count things, those of a kind.
  const paired = (old, fresh) => {
    const pairs = new Map();
    for (const by of [name, kin]) {
      const taken = new Set(pairs.values());
      const known = group(old.filter((node) => !taken.has(node)), by);
      for (const node of fresh) {
        const was = pairs.has(node) || by(node) === null ? undefined : known.get(by(node))?.shift();
        if (was) pairs.set(node, was);
      }
    }
    const kept = fresh.map((node) => pairs.has(node) ? morph(pairs.get(node), node) : document.adoptNode(node));
    const all = new Set(kept);
    for (const node of old) if (!all.has(node)) node.remove();
    return kept;
  };

  const children = (was, now) => {
    const kept = paired([...was.childNodes], [...now.childNodes]);
    let at = was.firstChild;
    for (const node of kept) {
      if (node === at) at = at.nextSibling;
      else was.insertBefore(node, at);
    }
  };

  const rows = (was, now) => {
    const table = was.closest("table");
    for (const row of paired(graft.written(table), [...now.rows])) if (!row.isConnected) was.append(row);
    graft.sort(table);
  };

  // exchange takes over what is different in a new page.
  const exchange = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    if (generator(page) !== generator(document)) { // another graft: its page has another script
      location.reload();
      return;
    }
    graft.enhance(page);
    const focused = document.activeElement;
    document.title = page.title;
    Object.assign(document.body.dataset, page.body.dataset);
    for (const [was, now] of ["header", "main"].map((part) => [document.querySelector(part), page.querySelector(part)])) morph(was, now);
    contents(document.querySelector("body > nav"), page.querySelector("body > nav"));
    graft.settle?.();
    if (focused?.isConnected && document.activeElement !== focused) focused.focus({ preventScroll: true });
    const mark = document.querySelector(".mark:focus, .mark:hover");
    if (mark) mark.closest(".timeline").querySelector(".detail").textContent = mark.getAttribute("aria-label");
  };

  // The list of contents is not there where there is one section only.
  const contents = (was, now) => {
    if (was && now) morph(was, now);
    else if (was) was.remove();
    else if (now) document.querySelector("main").before(document.adoptNode(now));
  };

  const clock = () => new Date().toLocaleTimeString("en-GB");
  let shown = clock(); // when what stands here was true last
  let heard = -Infinity; // when something was said last
  let wait = 0; // until the next question
  let failed = false;
  let paused = false;
  let asking = false;
  let timer;

  // say tells how it stands. Ears are told of what goes wrong, and of the rest once a
  // minute at most.
  const say = (text, urgent) => {
    if (state.textContent !== text) state.textContent = text;
    if (!urgent && performance.now() - heard < 60000) return;
    heard = performance.now();
    said.textContent = text;
  };

  const later = () => {
    clearTimeout(timer);
    if (!paused && !document.hidden) timer = setTimeout(ask, wait);
  };

  const well = (changed) => {
    const was = failed;
    failed = false;
    bar.classList.remove("gone");
    shown = clock();
    if (was || changed) say(`${was ? "The server is back. " : ""}Updated ${shown}.`, was);
    const { every, rarely } = document.body.dataset;
    wait = changed || was ? Number(every) : Math.min(wait * 1.25, Number(rarely));
    if (!changed) return;
    bar.classList.remove("fresh");
    void bar.offsetWidth; // the mark begins anew
    bar.classList.add("fresh");
  };

  const ill = (text) => {
    if (!failed) say(`${text} What stands here is of ${shown}. It is asked for again.`, true);
    failed = true;
    bar.classList.add("gone");
    wait = Math.min(wait * 2, Math.max(30000, Number(document.body.dataset.rarely)));
  };

  const ask = async () => {
    if (asking) return;
    asking = true;
    let answered;
    try {
      const answer = await fetch(location.pathname + location.search, { headers: { "If-None-Match": `"${document.body.dataset.tag}"` }, cache: "no-store", signal: AbortSignal.timeout(60000) });
      answered = [answer.status, answer.ok ? await answer.text() : ""];
    } catch {
      answered = [0, ""];
    }
    asking = false;
    take(...answered);
    later();
  };

  const take = (status, text) => {
    if (status === 200) {
      exchange(text);
      well(true);
    } else if (status === 304) well(false);
    else ill({ 0: "The server has gone.", 404: "It is not there any more." }[status] ?? "The server is busy.");
  };

  wait = Number(document.body.dataset.every);
  bar.hidden = false;
  state.textContent = `Live, as of ${shown}.`;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.textContent = paused ? "Go on" : "Pause";
    state.textContent = paused ? `Paused: what stands here is of ${shown}.` : `Live, as of ${shown}.`;
    if (paused) clearTimeout(timer);
    else ask();
  });
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (!document.hidden && !paused) ask();
  });
  later();
})();
