// Long lists and tables: only the rows that can be seen are in the document.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const MORE = 6;

/** Which of `count` rows are seen in a box that scrolls, and the space before and after them. */
function useSeen(count: number, row: number) {
  const box = useRef<HTMLDivElement>(null);
  const [[top, height], setView] = useState([0, 600]);
  const look = () => {
    const { scrollTop, clientHeight } = box.current!;
    setView((old) => (old[0] === scrollTop && old[1] === clientHeight ? old : [scrollTop, clientHeight]));
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.min(count, Math.floor(top / row)) - MORE);
  const last = Math.min(count, Math.ceil((top + height) / row) + MORE);
  return { box, look, first, last, before: first * row, after: (count - last) * row };
}

/** A table whose rows are all of one height, in a box that scrolls. */
export function LongTable<T>(props: {
  label: string;
  head: ComponentChildren[];
  items: readonly T[];
  row: number;
  class?: string;
  children: (item: T) => ComponentChildren;
}) {
  const seen = useSeen(props.items.length, props.row);
  return (
    <div class="scroll tall" ref={seen.box} onScroll={seen.look} tabIndex={0} role="region" aria-label={props.label}>
      <table class={`long ${props.class ?? ""}`} aria-rowcount={props.items.length + 1}>
        <thead>
          <tr>
            {props.head.map((each, at) => (
              <th key={at} scope="col">
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {seen.before > 0 && <tr aria-hidden="true" style={{ height: `${seen.before}px` }} />}
          {props.items.slice(seen.first, seen.last).map(props.children)}
          {seen.after > 0 && <tr aria-hidden="true" style={{ height: `${seen.after}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

/** The same as a list of names. */
export function LongList<T>(props: { label: string; items: readonly T[]; row: number; children: (item: T) => ComponentChildren }) {
  const seen = useSeen(props.items.length, props.row);
  return (
    <div class="names-box" ref={seen.box} onScroll={seen.look} tabIndex={0} role="region" aria-label={props.label}>
      <ul class="names long" style={{ paddingTop: `${seen.before}px`, paddingBottom: `${seen.after}px` }}>
        {props.items.slice(seen.first, seen.last).map(props.children)}
      </ul>
    </div>
  );
}
