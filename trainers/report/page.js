"use strict";
// Draws the transcripts and the tooltips. What a model wrote is set as textContent, nothing else.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 30;
  // |gap| in nats from which a token takes the next colour.
  const LEVELS = [0.001, 0.01, 0.1, 0.5];

  function make(tag, name, text) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const known = (value) => value !== null && value !== undefined;
  const signed = (value, digits) => (value > 0 ? "+" : value < 0 ? "−" : "±") + Math.abs(value).toFixed(digits);

  // Tooltips: any element with data-tip, on hover, focus or touch.
  const tip = document.getElementById("tip");
  function showTip(target, x, y) {
    tip.textContent = target.getAttribute("data-tip");
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = Math.min(x + 14, document.documentElement.clientWidth - box.width - 8);
    const above = y - box.height - 12;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (above > 4 ? above : y + 18) + "px";
  }
  const tipped = (event) => (event.target instanceof Element ? event.target.closest("[data-tip]") : null);
  function follow(event) {
    const target = tipped(event);
    if (target) showTip(target, event.clientX, event.clientY);
    else tip.hidden = true;
  }
  document.addEventListener("pointermove", follow);
  document.addEventListener("pointerdown", follow);
  document.addEventListener("focusin", (event) => {
    const target = tipped(event);
    if (!target) return;
    const box = target.getBoundingClientRect();
    showTip(target, box.left + box.width / 2, box.top);
  });
  document.addEventListener("focusout", () => { tip.hidden = true; });
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  const outcome = (episode) => (episode.status === "fault" ? "fault" : episode.success ? "success" : "failure");

  // One colour a state key, so that a state that comes again is seen at once.
  function stateColour(key) {
    let hash = 0;
    for (let i = 0; i < key.length; i += 1) hash = (hash * 31 + key.charCodeAt(i)) >>> 0;
    return `hsl(${hash % 360} ${50 + (hash >>> 9) % 35}% ${42 + (hash >>> 16) % 22}%)`;
  }

  function drawState(turn, times) {
    const state = make("span", "state");
    const square = make("i");
    square.style.backgroundColor = stateColour(turn.key);
    state.append(square, turn.key.slice(0, 10) || "no key");
    let text = `state key ${turn.key || "(none)"}`;
    if (times > 1) {
      state.append(` ×${times}`);
      text += `\n${times} turns of this episode stood in it`;
    }
    state.dataset.tip = text;
    return state;
  }

  function drawAdvantage(name, value) {
    const box = make("span", "adv", name + " ");
    if (!known(value)) {
      box.append("none");
    } else {
      box.classList.add(value > 0 ? "plus" : value < 0 ? "minus" : "zero");
      box.append(make("b", "", signed(value, 3)));
    }
    return box;
  }

  function level(gap) {
    return known(gap) ? LEVELS.filter((limit) => Math.abs(gap) >= limit).length : 0;
  }

  function drawToken(turn, i) {
    const id = turn.ids[i];
    const sampled = turn.logprobs[i];
    const trained = turn.trained[i];
    const masked = turn.mask[i] === 0;
    const gap = !masked && known(sampled) && known(trained) ? trained - sampled : null;
    const text = known(turn.texts[i]) ? turn.texts[i] : `⟨${id}⟩`;
    const token = make("span", `token g${level(gap)}${masked ? " masked" : ""}`);
    // A line break is shown as a sign too, so that it can be pointed at.
    token.textContent = text.replaceAll("\n", "⏎\n") || "∅";
    const lines = [
      `token ${id}`,
      masked ? "mask 0: forced, not trained" : "mask 1: sampled, trained",
      known(sampled) ? `sampled ${sampled.toFixed(4)} nats` : "sampled unknown",
    ];
    if (!masked) {
      lines.push(known(trained) ? `recomputed ${trained.toFixed(4)} nats` : "recomputed unknown");
      lines.push(known(gap) ? `gap ${signed(gap, 5)} nats` : "gap unknown");
    }
    token.dataset.tip = lines.join("\n");
    token.dataset.mask = String(turn.mask[i]);
    if (known(gap)) token.dataset.gap = gap.toFixed(5);
    return token;
  }

  function drawTokens(turn) {
    const box = make("div", "tokens");
    turn.ids.forEach((_, i) => box.append(drawToken(turn, i)));
    if (turn.tokens_left_out) box.append(` [${turn.tokens_left_out} tokens left out]`);
    return box;
  }

  // The episode as a strip: a cell a turn, as wide as the others, coloured by its advantage.
  function drawStrip(episode, turns) {
    const strip = make("div", "strip");
    const most = Math.max(...episode.turns.map((turn) => Math.abs(turn.advantage || 0)), 1e-9);
    episode.turns.forEach((turn, i) => {
      const cell = make("button", "cell");
      const sign = turn.advantage > 0 ? "plus" : turn.advantage < 0 ? "minus" : "zero";
      const fill = make("i", sign);
      fill.style.opacity = String(known(turn.advantage) ? Math.abs(turn.advantage) / most : 0);
      const square = make("b");
      square.style.backgroundColor = stateColour(turn.key);
      cell.append(fill, square, make("span", "", String(i + 1)));
      if (turn.reward) cell.append(make("em", "", turn.reward > 0 ? "★" : "▾"));
      if (!turn.valid) cell.classList.add("refused");
      const lines = [`turn ${i + 1}: ${turn.action.slice(0, 80)}`, `reward ${turn.reward}`];
      ["episode", "step"].forEach((name) => {
        const value = turn[`${name}_advantage`];
        lines.push(`${name} advantage ${known(value) ? signed(value, 3) : "none"}`);
      });
      if (!turn.valid) lines.push("invalid action");
      cell.dataset.tip = lines.join("\n");
      cell.addEventListener("click", () => turns[i].scrollIntoView({ behavior: "smooth", block: "start" }));
      strip.append(cell);
    });
    strip.append(make("span", `outcome ${outcome(episode)}`, outcome(episode)));
    return strip;
  }

  // The turns that stood in the state of `turn`, over the episodes of its group that the report holds.
  function membersOf(episode, turn) {
    return data.transcripts
      .filter((other) => other.run === episode.run && other.step === episode.step && other.group === episode.group)
      .flatMap((other) => other.turns.map((one, i) => ({ other, one, i })))
      .filter(({ one }) => one.key === turn.key);
  }

  function drawMembers(episode, turn) {
    const box = make("div", "members");
    const members = membersOf(episode, turn);
    const left = turn.group_size - members.length;
    box.append(make("h3", "", `Step group: ${turn.group_size} turns in one state` +
      (left > 0 ? `, ${left} of them in episodes that the report leaves out` : "")));
    const table = make("table");
    const head = make("tr");
    ["episode", "turn", "action", "reward", "return", "step", "episode", "together"].forEach((name) =>
      head.append(make("th", "", name)));
    table.append(head);
    members.forEach(({ other, one, i }) => {
      const row = make("tr", one === turn ? "this" : "");
      const cells = [other.id, i + 1, one.action.slice(0, 200), one.reward, other.return];
      cells.forEach((value) => row.append(make("td", "", String(value))));
      ["step_advantage", "episode_advantage", "advantage"].forEach((name) => {
        const cell = make("td");
        cell.append(drawAdvantage("", one[name]));
        row.append(cell);
      });
      table.append(row);
    });
    box.append(table);
    return box;
  }

  function drawGroupSize(article, episode, turn) {
    const size = make("button", "group", `step group of ${turn.group_size}`);
    size.dataset.tip = "turns of this task's group that stood in this state,\nover episodes and time; press to set them side by side";
    size.addEventListener("click", () => {
      const open = article.querySelector(".members");
      if (open) open.remove();
      else article.querySelector("header").after(drawMembers(episode, turn));
    });
    return size;
  }

  function drawTurn(episode, turn, i, times) {
    const article = make("article", "turn");
    const head = make("header");
    head.append(make("strong", "", `Turn ${i + 1}`));
    head.append(make("span", "reward", `reward ${turn.reward}`));
    head.append(drawState(turn, times));
    head.append(drawAdvantage("advantage: episode", turn.episode_advantage));
    head.append(drawAdvantage("step", turn.step_advantage));
    head.append(drawAdvantage("together", turn.advantage));
    if (known(turn.group_size)) head.append(drawGroupSize(article, episode, turn));
    if (!turn.valid) head.append(make("span", "invalid", "invalid action"));
    article.append(head);

    const parts = make("div", "parts");
    const left = make("div", "part");
    left.append(make("h3", "", "Observation"), make("pre", "observation", turn.observation));
    const right = make("div", "part");
    if (turn.ids.length) {
      right.append(make("h3", "", `Response, ${turn.ids.length + turn.tokens_left_out} tokens`), drawTokens(turn));
    } else if (turn.response !== turn.action) {
      right.append(make("h3", "", "Response"), make("pre", "response", turn.response));
    }
    right.append(make("h3", "", "Action"), make("pre", "action", turn.action));
    parts.append(left, right);
    article.append(parts);
    return article;
  }

  function drawScale() {
    const scale = make("div", "scale");
    scale.append("gap in nats:");
    ["below 0.001", "0.001", "0.01", "0.1", "0.5 and more"].forEach((text, i) => {
      scale.append(make("span", `token g${i}`, text));
    });
    scale.append(make("span", "token masked", "masked, not trained"));
    return scale;
  }

  function drawBody(episode) {
    const body = make("div", "body");
    const facts = [`task ${episode.task}`, `split ${episode.split}`, `seed ${episode.seed}`, `group ${episode.group}`];
    if (episode.policy) facts.push(`policy ${episode.policy}`);
    if (episode.retries) facts.push(`${episode.retries} retries`);
    if (episode.status === "truncated") facts.push("ended by a limit");
    body.append(make("p", "facts-line", facts.join(", ")));
    if (episode.fault) body.append(make("p", "invalid", `Faulted: ${episode.fault}. Left out of every statistic.`));
    if (episode.verdict) body.append(make("p", "facts-line", `Verdict: ${episode.verdict}`));
    if (episode.turns.some((turn) => turn.ids.length)) body.append(drawScale());
    const counts = new Map();
    episode.turns.forEach((turn) => counts.set(turn.key, (counts.get(turn.key) || 0) + 1));
    const turns = episode.turns.map((turn, i) => drawTurn(episode, turn, i, counts.get(turn.key)));
    if (turns.length) body.append(drawStrip(episode, turns), ...turns);
    if (episode.turns_left_out) body.append(make("p", "facts-line", `${episode.turns_left_out} further turns left out.`));
    return body;
  }

  function drawEpisode(episode) {
    const box = make("details", "episode");
    const head = make("summary");
    head.append(make("span", "what", `Step ${episode.step}`));
    head.append(make("span", `outcome ${outcome(episode)}`, outcome(episode)));
    head.append(make("span", "", `return ${episode.return}`));
    head.append(make("span", "", `${episode.turns.length + episode.turns_left_out} turns`));
    if (episode.difficulty) head.append(make("span", "", episode.difficulty));
    if (episode.run) head.append(make("span", "", episode.run));
    head.append(make("span", "", episode.id));
    box.append(head);
    // Drawn when first opened: a report holds thousands of tokens.
    box.addEventListener("toggle", () => {
      if (box.open && box.children.length === 1) box.append(drawBody(episode));
    });
    return box;
  }

  const list = document.getElementById("episodes");
  const filters = document.getElementById("filters");
  const chosen = {};

  function drawList() {
    const found = data.transcripts.filter((episode) =>
      Object.entries(chosen).every(([, wants]) => wants(episode)));
    list.replaceChildren();
    const more = make("button");
    let shown = 0;
    function drawMore() {
      found.slice(shown, shown + PAGE).forEach((episode) => list.insertBefore(drawEpisode(episode), more));
      shown = Math.min(found.length, shown + PAGE);
      more.textContent = `Show ${Math.min(PAGE, found.length - shown)} more of ${found.length - shown}`;
      more.hidden = shown === found.length;
    }
    more.addEventListener("click", drawMore);
    list.append(more);
    drawMore();
    if (!found.length && data.transcripts.length) list.prepend(make("p", "empty", "None matches."));
  }

  function addFilter(name, of) {
    const values = [...new Set(data.transcripts.map(of))].filter((value) => value !== "");
    if (values.length < 2) return;
    const label = make("label", "", name + " ");
    const select = make("select");
    select.append(new Option("all", ""));
    values.forEach((value) => select.append(new Option(String(value), String(value))));
    select.addEventListener("change", () => {
      if (select.value === "") delete chosen[name];
      else chosen[name] = (episode) => String(of(episode)) === select.value;
      drawList();
    });
    label.append(select);
    filters.append(label);
  }

  addFilter("run", (episode) => episode.run);
  addFilter("step", (episode) => episode.step);
  addFilter("outcome", outcome);
  addFilter("difficulty", (episode) => episode.difficulty);
  drawList();
})();
