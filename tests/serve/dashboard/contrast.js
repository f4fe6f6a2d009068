// Returns what on this page falls short of WCAG AA: text below 4.5 (large text 3), edges of fields and drawings below 3.
const numbers = (colour) => { const found = colour.match(/[\d.]+/g).map(Number); return found.length < 4 ? [...found, 1] : found; };
const light = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
const ratio = (a, b) => { const [dark, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y); return (bright + 0.05) / (dark + 0.05); };
const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
const ground = (element) => {
  const layers = [];
  for (let at = element; at; at = at.parentElement) layers.push(numbers(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
};
const short = [];
const demand = (needed, colour, element, under, what) => {
  const back = ground(under);
  const found = ratio(over(numbers(colour), back), back);
  if (found < needed) short.push(`${found.toFixed(2)} < ${needed}: ${what} (${colour} on ${back.map(Math.round)})`);
};
document.querySelectorAll("details").forEach((one) => { one.open = true; });
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
let checked = 0;
while (texts.nextNode()) {
  const words = texts.currentNode.data.trim(), element = texts.currentNode.parentElement;
  if (!words || element.closest("script, select, title") || !element.checkVisibility()) continue;
  const style = getComputedStyle(element), size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  demand(large ? 3 : 4.5, element instanceof SVGElement ? style.fill : style.color, element, element, words.slice(0, 40));
  checked += 1;
}
for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
  if (!field.checkVisibility()) continue;
  const style = getComputedStyle(field);
  demand(4.5, style.color, field, field, `words in ${field.name}`);
  if (!["radio", "checkbox"].includes(field.type)) demand(3, style.borderTopColor, field, field.parentElement, `edge of ${field.name}`);
}
for (const [selector, property] of [[".line", "stroke"], [".dot", "fill"], [".bar", "fill"]]) {
  const drawn = document.querySelector(selector);
  if (drawn) demand(3, getComputedStyle(drawn)[property], drawn, drawn.closest("figure, td"), selector);
}
return { short, checked };
