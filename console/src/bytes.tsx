// A frame with a name for each byte: fields as a tree, bytes in hex, each shows its other half.

import { useState } from "preact/hooks";

import { visible } from "./text";

/** A node of the dissector's tree; the leaves are all bytes, one after the other. */
export interface Node {
  path: string;
  role: string;
  type: string;
  offset: number;
  length: number;
  value?: unknown;
  note?: string;
  about?: string;
  state?: string;
  children?: Node[];
  decompressed?: Node;
}

const LINE = 16;
const BYTES_SHOWN = 4096;

export function decode(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
}

interface Range {
  offset: number;
  length: number;
}

const isIn = (at: number, range: Range | null): boolean =>
  range !== null && at >= range.offset && at < range.offset + range.length;

export function Dissected(props: { title: string; bytes: Uint8Array; tree: Node }) {
  const [pointed, setPointed] = useState<Range | null>(null);
  const [fixed, setFixed] = useState<Range | null>(null);
  const range = fixed ?? pointed;
  const pick = (node: Range) => setFixed(fixed?.offset === node.offset && fixed.length === node.length ? null : node);
  return (
    <section class="dissected">
      <h3>
        {props.title} <small>{props.bytes.length.toLocaleString("en")} bytes</small>
      </h3>
      <div class="halves">
        <div class="tree scroll" tabIndex={0} role="region" aria-label={`Fields of the ${props.title.toLowerCase()}`} onMouseLeave={() => setPointed(null)}>
          <Branch node={props.tree} depth={0} range={range} onPoint={setPointed} onPick={pick} />
        </div>
        <Hex bytes={props.bytes} tree={props.tree} range={range} onPoint={setPointed} label={props.title} />
      </div>
    </section>
  );
}

function Branch(props: { node: Node; depth: number; range: Range | null; onPoint: (range: Range) => void; onPick: (range: Range) => void }) {
  const { node, depth } = props;
  const isGroup = node.children !== undefined;
  const name = node.path === "" ? node.type : node.path.split(".").at(-1)!;
  const isOn = props.range !== null && props.range.offset === node.offset && props.range.length === node.length;
  const isQuiet = node.role !== "field" && node.role !== "group";
  return (
    <>
      <button
        type="button"
        class={`field-row ${isOn ? "on" : ""} ${isQuiet ? "quiet" : ""} ${node.state ? "broken" : ""}`}
        style={{ paddingLeft: `${6 + depth * 14}px` }}
        title={node.about}
        aria-pressed={isOn}
        onMouseEnter={() => props.onPoint(node)}
        onFocus={() => props.onPoint(node)}
        onClick={() => props.onPick(node)}
      >
        <span class="field-name">
          {visible(name)}
          {isQuiet && depth > 0 ? ` (${node.role})` : ""}
        </span>
        {!isGroup && <span class="field-value">{shown(node.value)}</span>}
        {node.note && <span class="field-note">{visible(node.note)}</span>}
        <span class="field-type">{node.path === "" ? "" : node.type}</span>
      </button>
      {node.children?.map((each, at) => <Branch key={at} {...props} node={each} depth={depth + 1} />)}
      {node.decompressed && (
        <div class="unpacked">
          {leaves(node.decompressed)
            .filter((each) => each.role === "field")
            .map((each, at) => (
              <div key={at} class="field-row" style={{ paddingLeft: `${20 + depth * 14}px` }}>
                <span class="field-name">{visible(each.path)}</span>
                <span class="field-value">{shown(each.value)}</span>
              </div>
            ))}
        </div>
      )}
    </>
  );
}

function leaves(node: Node): Node[] {
  return node.children ? node.children.flatMap(leaves) : [node];
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "null";
  return typeof value === "string" ? `"${visible(value)}"` : String(value);
}

function Hex(props: { bytes: Uint8Array; tree: Node; range: Range | null; label: string; onPoint: (range: Range) => void }) {
  const fields = leaves(props.tree);
  const fieldAt = (at: number) => fields.find((each) => isIn(at, each));
  const count = Math.min(props.bytes.length, BYTES_SHOWN);
  const lines = Array.from({ length: Math.ceil(count / LINE) }, (_, at) => at * LINE);
  return (
    <div class="hex scroll" tabIndex={0} role="region" aria-label={`Bytes of the ${props.label.toLowerCase()}`}>
      {lines.map((start) => (
        <div key={start} class="hex-line">
          <span class="hex-offset">{start.toString(16).padStart(4, "0")}</span>
          {[...props.bytes.subarray(start, Math.min(start + LINE, count))].map((each, at) => (
            <span
              key={at}
              class={isIn(start + at, props.range) ? "byte on" : "byte"}
              onMouseEnter={() => {
                const field = fieldAt(start + at);
                if (field) props.onPoint(field);
              }}
            >
              {each.toString(16).padStart(2, "0")}
            </span>
          ))}
          <span class="hex-text">
            {[...props.bytes.subarray(start, Math.min(start + LINE, count))]
              .map((each) => (each > 31 && each < 127 ? String.fromCharCode(each) : "·"))
              .join("")}
          </span>
        </div>
      ))}
      {props.bytes.length > count && <p class="hint">The first {count} bytes are shown.</p>}
    </div>
  );
}
