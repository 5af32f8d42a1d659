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

const TIME_MAX = 8.64e15;
const areTexts = (of: any, ...names: string[]) => names.every((name) => typeof of[name] === "string");
const areTextsOrNull = (of: any, ...names: string[]) => names.every((name) => of[name] === null || typeof of[name] === "string");
const areNumbers = (of: any, ...names: string[]) => names.every((name) => Number.isInteger(of[name]));
const isObject = (given: any) => typeof given === "object" && given !== null;

/** Whether it is a step: a file comes from anybody. */
const isStep = (each: any): boolean =>
  isObject(each) &&
  areTexts(each, "what", "api", "address", "state") &&
  areTextsOrNull(each, "client_id", "transactional_id", "group") &&
  areNumbers(each, "at_ms", "number", "producer_id", "producer_epoch", "broker") &&
  Math.abs(each.at_ms) <= TIME_MAX &&
  isObject(each.errors) &&
  areNumbers(each.errors, ...Object.keys(each.errors)) &&
  Array.isArray(each.partitions) &&
  each.partitions.every((at: any) => isObject(at) && areTexts(at, "topic") && areNumbers(at, "partition", "offset", "records"));

/** Reads what `asJson` wrote; throws an Error that says what is wrong. */
export function fromJson(text: string): Step[] {
  const read = JSON.parse(text);
  if (read?.kind !== KIND || !Array.isArray(read.steps)) throw new Error("This file has no steps of transactions.");
  const wrong = read.steps.findIndex((each: any) => !isStep(each));
  if (wrong >= 0) throw new Error(`Step ${wrong + 1} of this file has a field that is missing or of another type.`);
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
