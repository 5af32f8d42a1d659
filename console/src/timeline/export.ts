// The timeline as a file: a picture that needs nothing else, or its steps.

import type { Step } from "../types";
import { visible } from "../text";
import { HEADING, type Picture } from "./model";

const NAMES = 190;
const SVG = "http://www.w3.org/2000/svg";
/** What a picture by itself has to say, since it has no style sheet. */
const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "paint-order", "font-size",
  "font-weight", "font-style", "text-anchor",
];
const KIND = "fencepost-steps";
const BROWSERS_MAX = 16_000;

/** The drawn timeline, with the names of its lanes, as SVG without a style sheet. */
export function asSvg(drawn: SVGSVGElement, picture: Picture, titles: Record<string, string>): string {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const from = drawn.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((each, at) => {
    const style = getComputedStyle(from[at]!);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value && value !== "none" && value !== "auto") each.setAttribute(name, value);
      else if (name === "fill") each.setAttribute("fill", "none");
    }
    each.removeAttribute("class");
  });
  const ink = getComputedStyle(document.body).color;
  const soft = getComputedStyle(document.querySelector(".hint")!).color;
  const whole = document.createElementNS(SVG, "svg");
  const [width, height] = [picture.width + NAMES, picture.height];
  whole.setAttribute("xmlns", SVG);
  for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) whole.setAttribute(name, String(value));
  whole.setAttribute("font-family", "system-ui, sans-serif");
  whole.setAttribute("font-size", "12");
  const ground = document.createElementNS(SVG, "rect");
  ground.setAttribute("width", String(width));
  ground.setAttribute("height", String(height));
  ground.setAttribute("fill", getComputedStyle(document.querySelector(".card")!).backgroundColor);
  whole.append(ground);
  const name = (text: string, y: number, fill: string) => {
    const made = document.createElementNS(SVG, "text");
    made.setAttribute("x", "10");
    made.setAttribute("y", String(y));
    made.setAttribute("fill", fill);
    made.textContent = visible(text).slice(0, 28);
    whole.append(made);
  };
  for (const each of picture.headings) name(titles[each.kind]!, each.y + HEADING - 7, soft);
  for (const each of picture.lanes) name(each.name, each.y + 4, ink);
  const moved = document.createElementNS(SVG, "g");
  moved.setAttribute("transform", `translate(${NAMES} 0)`);
  moved.append(...copy.childNodes);
  whole.append(moved);
  return new XMLSerializer().serializeToString(whole);
}

/** An SVG as PNG, twice as large unless browsers could not draw that. */
export async function asPng(svg: string, width: number): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const scale = Math.min(2, BROWSERS_MAX / (width + NAMES));
    const canvas = document.createElement("canvas");
    canvas.width = image.width * scale;
    canvas.height = image.height * scale;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => canvas.toBlob((blob) => resolve(blob!), "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

export const asJson = (steps: Step[]): string => JSON.stringify({ kind: KIND, steps }, null, 1);

/** Reads what `asJson` wrote; throws an Error that says what is wrong. */
export function fromJson(text: string): Step[] {
  const read = JSON.parse(text);
  if (read?.kind !== KIND || !Array.isArray(read.steps)) throw new Error("This file has no steps of transactions.");
  return read.steps;
}

/** Offers a file to the reader. */
export function save(content: string | Blob, type: string, name: string): void {
  const url = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
