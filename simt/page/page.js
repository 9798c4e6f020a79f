"use strict";
// Plays the trace of a page that simt.page wrote.  A step is [line, pass, active, executed, exited, absent, flags, values].
(() => {
  const LANES = 32;
  const [LINE, PASS, ACTIVE, EXECUTED, EXITED, ABSENT, FLAGS, VALUES] = [0, 1, 2, 3, 4, 5, 6, 7];
  const DIVERGES = 1, ENDS = 2;
  // By state of a lane: its mark, and what it means.
  const { films, marks: MARKS, words: WORDS } = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;

  const has = (mask, lane) => (mask >>> lane) & 1;

  function count(mask) {
    let lanes = 0;
    for (let lane = 0; lane < LANES; lane++) lanes += has(mask, lane);
    return lanes;
  }

  function stateOf(step, lane) {
    if (has(step[EXECUTED], lane)) return "active";
    if (has(step[ACTIVE], lane)) return "predicated_off";
    if (has(step[ABSENT], lane)) return "no_thread";
    return has(step[EXITED], lane) ? "exited" : "other_path";
  }

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  class Player {
    constructor(element, film) {
      this.element = element;
      this.film = film;
      this.warp = film.warps[0];
      this.at = 0;
      this.timer = 0;
      this.part = (name) => element.querySelector(`[data-is="${name}"]`);
      this.cells = this.makeGrid();
      this.rows = this.makeCodes();
      this.makeWarps();
      this.listen();
      this.choose(0);
    }

    get steps() { return this.warp.steps; }

    makeGrid() {
      const cells = [];
      for (let lane = 0; lane < LANES; lane++) {
        const cell = make("div", "lane");
        const parts = ["number", "mark", "value"].map((name) => make("span", name));
        parts[0].textContent = lane;
        cell.append(...parts);
        cell.addEventListener("pointerenter", () => this.point(lane));
        this.part("grid").append(cell);
        cells.push({ cell, mark: parts[1], value: parts[2] });
      }
      return cells;
    }

    makeCodes() {
      const order = this.film.code.map((_, index) => index).sort((a, b) => this.film.code[a][3] - this.film.code[b][3]);
      const rows = [];
      let inside = this.film.code[order[0]][2];
      for (const index of order) {
        const [position, text, name] = this.film.code[index];
        if (name !== inside) {
          inside = name;
          this.part("codes").append(make("li", "place", `in ${name}:`));
        }
        const row = make("li");
        row.append(make("span", "", position), document.createTextNode(text));
        this.part("codes").append(row);
        rows[index] = row;
      }
      return rows;
    }

    makeWarps() {
      this.film.warps.forEach((warp, index) => {
        const option = make("option", "", `${warp.warp} of block ${warp.block}`);
        option.value = index;
        this.part("warp").append(option);
      });
    }

    listen() {
      this.element.addEventListener("click", (event) => {
        const button = event.target.closest("[data-do]");
        if (button) this.do(button.dataset.do);
        if (event.detail && !event.target.closest("select, input")) this.element.focus({ preventScroll: true });
      });
      this.element.addEventListener("focusin", () => select(this));
      this.part("warp").addEventListener("change", (event) => this.choose(Number(event.target.value)));
      this.part("variable").addEventListener("change", () => this.draw());
      this.part("speed").addEventListener("change", () => { if (this.timer) { this.stop(); this.play(); } });
      this.part("position").addEventListener("input", (event) => this.go(Number(event.target.value)));
      this.part("strip").addEventListener("click", (event) => {
        const box = event.target.getBoundingClientRect();
        this.go(Math.floor(((event.clientX - box.left) / box.width) * this.steps.length));
      });
      new ResizeObserver(() => this.drawStrip()).observe(this.part("strip"));
    }

    choose(index) {
      this.stop();
      this.warp = this.film.warps[index];
      this.at = 0;
      this.part("position").max = this.steps.length - 1;
      const names = [...new Set(this.steps.flatMap((step) => Object.keys(step[VALUES])))];
      this.names = names;
      const chooser = this.part("variable");
      chooser.replaceChildren(make("option", "", "what the step assigns"), ...names.map((name) => make("option", "", name)));
      chooser.selectedIndex = 0;
      this.draw();
    }

    do(what) {
      const actions = {
        start: () => this.go(0), end: () => this.go(this.steps.length - 1),
        back: () => this.go(this.at - 1), next: () => this.go(this.at + 1),
        "pass-back": () => this.go(this.passFrom(-1)), "pass-next": () => this.go(this.passFrom(1)),
        play: () => (this.timer ? this.stop() : this.play()),
      };
      if (what !== "play") this.stop();
      actions[what]();
    }

    go(to) {
      this.at = Math.min(Math.max(to, 0), this.steps.length - 1);
      this.draw();
    }

    samePass(a, b) { return a[PASS] === b[PASS] && a[ACTIVE] === b[ACTIVE]; }

    // The first step of the pass after this one, or of this one, or, at its beginning, of the one before.
    passFrom(direction) {
      const steps = this.steps;
      let to = this.at;
      if (direction > 0) {
        while (to < steps.length - 1 && this.samePass(steps[to], steps[this.at])) to++;
        return to;
      }
      const from = steps[Math.max(to - 1, 0)];
      while (to > 0 && this.samePass(steps[to - 1], from)) to--;
      return to;
    }

    play() {
      if (this.at === this.steps.length - 1) this.at = -1;
      const advance = () => {
        this.go(this.at + 1);
        if (this.at === this.steps.length - 1) this.stop();
      };
      this.part("status").setAttribute("aria-live", "off");
      this.element.querySelector('[data-do="play"]').textContent = "Stop";
      this.timer = setInterval(advance, 1000 / Number(this.part("speed").value));
      advance();
    }

    stop() {
      clearInterval(this.timer);
      this.timer = 0;
      this.part("status").removeAttribute("aria-live");
      this.element.querySelector('[data-do="play"]').textContent = "Play";
    }

    // What a variable holds in each lane after the step; null where nothing was seen to write it.
    valuesOf(name) {
      const found = new Array(LANES).fill(null);
      let left = LANES;
      for (let index = this.at; index >= 0 && left; index--) {
        const step = this.steps[index];
        const written = step[VALUES][name];
        if (written === undefined) continue;
        for (let lane = 0; lane < LANES; lane++) {
          if (found[lane] === null && has(step[EXECUTED], lane)) {
            found[lane] = typeof written === "string" ? written : written[lane];
            left--;
          }
        }
      }
      return found;
    }

    draw() {
      const step = this.steps[this.at];
      const assigned = Object.keys(step[VALUES]);
      const chosen = this.part("variable");
      const name = chosen.selectedIndex > 0 ? chosen.value : assigned[assigned.length - 1];
      const values = name === undefined ? [] : this.valuesOf(name);
      const fresh = assigned.includes(name);
      this.cells.forEach(({ cell, mark, value }, lane) => {
        const state = stateOf(step, lane);
        cell.dataset.state = state;
        cell.classList.toggle("stale", !(fresh && state === "active"));
        mark.textContent = MARKS[state];
        value.textContent = values[lane] ?? "";
      });
      this.part("position").value = this.at;
      this.say(step, name);
      this.rows.forEach((row) => row.classList.remove("current"));
      const row = this.rows[step[LINE]];
      row.classList.add("current");
      const box = this.part("codes");
      const top = row.offsetTop - box.offsetTop;
      if (top < box.scrollTop || top + row.offsetHeight > box.scrollTop + box.clientHeight) {
        box.scrollTop = top - box.clientHeight / 2;
      }
      if (this.pointed !== undefined) this.point(this.pointed);
      this.drawStrip();
    }

    say(step, name) {
      const [position, text] = this.film.code[step[LINE]];
      const pass = step[PASS] ? `pass ${step[PASS]}, ` : "";
      const said = `Step ${this.at + 1} of ${this.steps.length}: ${pass}${count(step[ACTIVE])} of 32 lanes`;
      const more = (step[FLAGS] & DIVERGES ? ", which diverge here" : "") + (name === undefined ? "" : `; shown: ${name}`);
      const code = make("code", "", step[FLAGS] & ENDS ? "(end of the kernel)" : `${position}  ${text.trim()}`);
      this.part("status").replaceChildren(said + more, make("br"), code);
    }

    point(lane) {
      this.pointed = lane;
      const step = this.steps[this.at];
      const shown = this.names.map((name) => [name, this.valuesOf(name)[lane]]).filter((pair) => pair[1] !== null);
      const values = shown.map(([name, value]) => `${name} = ${value}`).join(", ");
      this.part("tip").textContent = `lane ${lane}: ${WORDS[stateOf(step, lane)]}${values ? "; " + values : ""}`;
    }

    drawStrip() {
      const canvas = this.part("strip");
      const ratio = window.devicePixelRatio || 1;
      const width = Math.round(canvas.clientWidth * ratio), height = 66 * ratio;
      if (!width) return;
      canvas.width = width;
      canvas.height = height;
      const pen = canvas.getContext("2d");
      const style = getComputedStyle(root);
      const color = (name) => style.getPropertyValue(name).trim();
      const colors = Object.fromEntries(
        Object.keys(MARKS).map((state) => [state, color(`--lane-${state.replaceAll("_", "-")}`)]));
      const wide = width / this.steps.length, high = height / LANES;
      // No more columns than pixels: of steps that share one, the first is drawn.
      const columns = Math.min(this.steps.length, width);
      for (let column = 0; column < columns; column++) {
        const index = Math.floor((column * this.steps.length) / columns);
        for (let lane = 0; lane < LANES; lane++) {
          const state = stateOf(this.steps[index], lane);
          pen.fillStyle = colors[state];
          pen.globalAlpha = state === "active" ? 1 : 0.35;
          pen.fillRect(index * wide, lane * high, Math.max(wide, 1), high);
        }
      }
      pen.globalAlpha = 1;
      pen.strokeStyle = color("--ink");
      pen.lineWidth = 2 * ratio;
      pen.strokeRect(this.at * wide, 0, Math.max(wide, 3), height);
    }
  }

  const players = Object.entries(films).map(
    ([key, film]) => [key, new Player(document.getElementById(`player-${key}`), film)]);
  let current = null;

  function select(player) {
    current = player;
    players.forEach(([, each]) => each.element.classList.toggle("current", each === player));
  }
  if (players.length) select(players[0][1]);

  // Dark and light

  const button = document.getElementById("theme");
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);

  function showTheme() {
    button.setAttribute("aria-pressed", String(isDark()));
    button.textContent = isDark() ? "Light" : "Dark";
    players.forEach(([, player]) => player.drawStrip());
  }

  function toggleTheme() {
    root.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  }
  button.addEventListener("click", toggleTheme);
  prefersDark.addEventListener("change", showTheme);
  showTheme();

  // On paper everything is light, and what is folded away is opened.

  let before = null;
  window.addEventListener("beforeprint", () => {
    const closed = [...document.querySelectorAll("details:not([open])")];
    before = { closed, theme: root.dataset.theme };
    closed.forEach((each) => { each.open = true; });
    root.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => {
    before.closed.forEach((each) => { each.open = false; });
    if (before.theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = before.theme;
    showTheme();
  });

  // Keys

  const KEYS = {
    " ": () => "play", ArrowLeft: (event) => (event.shiftKey ? "pass-back" : "back"),
    ArrowRight: (event) => (event.shiftKey ? "pass-next" : "next"), Home: () => "start", End: () => "end",
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const onControl = event.target.closest("input, select, button, summary, a");
    if (event.key.toLowerCase() === "d" && !event.target.closest("select")) toggleTheme();
    const named = players.find(([key]) => key === event.key.toLowerCase());
    if (named && players.length > 1 && !event.target.closest("select")) {
      select(named[1]);
      named[1].element.scrollIntoView({ block: "nearest" });
    }
    if (!current || onControl || !(event.key in KEYS)) return;
    event.preventDefault();
    current.do(KEYS[event.key](event));
  });
})();
