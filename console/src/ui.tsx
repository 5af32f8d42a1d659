// Parts that all pages are made of.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import { ProblemError } from "./api";
import { visible } from "./text";

/** A page with its name and a line that says what one sees. */
export function Page(props: { title: string; hint: ComponentChildren; children: ComponentChildren; side?: ComponentChildren }) {
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{props.title}</h1>
          <p class="hint">{props.hint}</p>
        </div>
        {props.side && <div class="actions">{props.side}</div>}
      </header>
      {props.children}
    </>
  );
}

/** A part of a page with a heading. */
export function Card(props: { title?: ComponentChildren; hint?: ComponentChildren; side?: ComponentChildren; class?: string; children?: ComponentChildren }) {
  return (
    <section class={`card ${props.class ?? ""}`}>
      {(props.title || props.side) && (
        <header class="card-head">
          <div>
            {props.title && <h2>{props.title}</h2>}
            {props.hint && <p class="hint">{props.hint}</p>}
          </div>
          {props.side && <div class="actions">{props.side}</div>}
        </header>
      )}
      {props.children}
    </section>
  );
}

export function Empty(props: { children: ComponentChildren }) {
  return <p class="empty">{props.children}</p>;
}

/** A word in colour: good, busy, bad or quiet. */
export function Tag(props: { tone?: "good" | "busy" | "bad" | "quiet"; title?: string; children: ComponentChildren }) {
  return (
    <span class={`tag ${props.tone ?? "quiet"}`} title={props.title}>
      {props.children}
    </span>
  );
}

/** A text from a client or a log: control characters are shown, and it is never markup. */
export function Text(props: { of: string | null | undefined; none?: string }) {
  if (props.of === null || props.of === undefined || props.of === "")
    return <span class="none">{props.none ?? "none"}</span>;
  return <bdi>{visible(props.of)}</bdi>;
}

/** A table that scrolls by itself when the window is narrow. */
export function Table(props: { label: string; head: ComponentChildren[]; children: ComponentChildren; class?: string }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={props.label}>
      <table class={props.class}>
        <thead>
          <tr>
            {props.head.map((each, at) => (
              <th key={at} scope="col">
                {each}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}

/** A button that does something at the broker, and shows why it could not. */
export function Button(props: {
  do: () => Promise<unknown> | void;
  children: ComponentChildren;
  tone?: "main" | "bad";
  title?: string;
  disabled?: boolean;
  label?: string;
}) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ProblemError | null>(null);
  const onClick = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await props.do();
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <span class="button">
      <button
        type="button"
        class={props.tone ?? ""}
        disabled={isBusy || props.disabled}
        onClick={onClick}
        title={props.title}
        aria-label={props.label}
      >
        {props.children}
      </button>
      {problem && <Wrong problem={problem} />}
    </span>
  );
}

/** What the control port refused, and what to do. */
export function Wrong(props: { problem: ProblemError | undefined }) {
  if (!props.problem) return null;
  const { detail, advice } = props.problem.problem;
  return (
    <span class="wrong" role="alert">
      {visible(detail)}
      {advice ? <> {visible(advice)}</> : null}
    </span>
  );
}

/** A field with its label. */
export function Field(props: { label: string; children: JSX.Element }) {
  return (
    <label class="field">
      <span>{props.label}</span>
      {props.children}
    </label>
  );
}
