// page.js - what the pages of heddle share: elements, numbers, tips. Text from the model becomes text nodes only, never
// markup.
"use strict";
const read = id => JSON.parse(document.getElementById(id).textContent || "null");
const $ = id => document.getElementById(id);
const paint = name => `var(--${name})`;

// Make an element with attributes and children; svg() makes SVG elements.
function fill(e, attributes, children) {
  for (const [k, v] of Object.entries(attributes || {}))
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k === "style" && typeof v === "object") Object.assign(e.style, v);
    else if (v !== null && v !== false) e.setAttribute(k, v);
  e.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined));
  return e;
}
const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// --- numbers ------------------------------------------------------------------------------------
const known = v => v !== null && v !== undefined && isFinite(v);
const whole = v => known(v) ? Math.round(v).toLocaleString("en-US").replaceAll(",", "\u2009") : "\u2013";
const decade = v => v >= 1000 ? v / 1000 + "\u2009k" : String(v);
const percent = v => known(v) ? (100 * v).toFixed(1) + "\u2009%" : "\u2013";
function short(v, digits = 3) {
  if (!v) return "0\u2009";
  const step = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "\u00b5"], [1e-9, "n"], [0, "p"]].find(s => Math.abs(v) >= s[0]);
  return (v / (step[0] || 1e-12)).toPrecision(digits) + "\u2009" + step[1];
}
function bytes(v) {
  if (!known(v)) return "\u2013";
  return v < 1024 ? whole(v) + "\u2009B" : v < 1048576 ? (v / 1024).toFixed(1) + "\u2009KiB" : (v / 1048576).toFixed(2) + "\u2009MiB";
}
// Return round steps for an axis from 0 to `most`.
function ticks(most, n) {
  const raw = most / n || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find(s => s * power >= raw) * power, all = [];
  for (let v = 0; v <= most * 1.0001; v += step) all.push(v);
  return all;
}

// --- tooltip ------------------------------------------------------------------------------------
function tip(event, text) {
  const t = $("tip");
  t.hidden = !text;
  if (!text) return;
  t.textContent = text;
  const w = t.offsetWidth, h = t.offsetHeight;
  t.style.left = Math.min(event.clientX + 14, innerWidth - w - 8) + "px";
  t.style.top = (event.clientY + 18 + h > innerHeight ? event.clientY - h - 10 : event.clientY + 18) + "px";
}
const tips = text => ({onmousemove: e => tip(e, text), onmouseleave: e => tip(e, "")});
const key = (...entries) => el("div", {class: "key"}, entries.map(([colour, text]) =>
  el("span", null, el("i", {style: {background: colour}}), text)));

// Show the hint while the table is wider than the page.
function hint() {
  const s = document.querySelector("#layers .scroll");
  document.querySelector("#layers .more").hidden = s.scrollWidth <= s.clientWidth;
}
