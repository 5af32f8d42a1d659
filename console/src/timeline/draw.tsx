// The picture as SVG: names of lanes at the left, which stay, and the steps at the right.

import { useEffect, useRef } from "preact/hooks";

import { duration, timeOfDay, visible } from "../text";
import { AXIS, HEADING, type LaneKind, type Picture, ROW } from "./model";

export const TITLES: Record<LaneKind, [string, string]> = {
  producer: ["Clients", "by transactional id, or else by client id"],
  coordinator: ["Coordinators", "state of each transactional id, in __transaction_state"],
  partition: ["Partitions", "records and markers, with their offsets"],
  group: ["Consumer groups", "offsets that are committed"],
};
const NAME_MAX = 22;
const TICK = 120;

const short = (name: string): string => {
  const shown = visible(name);
  return shown.length > NAME_MAX ? `${shown.slice(0, NAME_MAX - 1)}…` : shown;
};

export function Timeline(props: {
  picture: Picture;
  selected: number;
  isFollowing: boolean;
  onSelect: (column: number) => void;
  onFollow: (id: string) => void;
}) {
  const { picture, selected } = props;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (props.isFollowing && box.current) box.current.scrollLeft = box.current.scrollWidth;
  }, [picture, props.isFollowing]);
  useEffect(() => {
    const at = picture.columns[selected];
    if (at && box.current) {
      const { scrollLeft, clientWidth } = box.current;
      if (at.x < scrollLeft || at.x > scrollLeft + clientWidth - 60) box.current.scrollLeft = at.x - clientWidth / 2;
    }
  }, [selected]);
  const chosen = picture.columns[selected];
  return (
    <div class="timeline">
      <div class="lanes" style={{ height: `${picture.height}px` }}>
        {picture.headings.map((each) => (
          <div key={each.kind} class="lane-kind" style={{ top: `${each.y}px`, height: `${HEADING}px` }} title={TITLES[each.kind][1]}>
            {TITLES[each.kind][0]}
          </div>
        ))}
        {picture.lanes.map((each) => (
          <button
            key={each.key}
            type="button"
            class="lane-name"
            style={{ top: `${each.y - ROW / 2}px`, height: `${ROW}px` }}
            title={`Follow ${visible(each.follow)} alone`}
            onClick={() => props.onFollow(each.follow)}
          >
            <bdi>{short(each.name)}</bdi>
          </button>
        ))}
      </div>
      <div
        class="picture"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label="Timeline, the same as the list of steps below; the arrow keys go from step to step"
        onKeyDown={(event) => {
          const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
          if (by === undefined) return;
          event.preventDefault();
          const last = picture.columns.length - 1;
          props.onSelect(selected < 0 ? last : Math.min(last, Math.max(0, selected + by)));
        }}
      >
        <svg width={picture.width} height={picture.height} viewBox={`0 0 ${picture.width} ${picture.height}`} aria-hidden="true">
          <defs>
            <pattern id="waiting" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="4" height="8" class="stripe" />
            </pattern>
            <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0L8 4L0 8z" class="head" />
            </marker>
          </defs>
          {picture.lanes.map((each) => (
            <line key={each.key} class="lane" x1="0" x2={picture.width} y1={each.y} y2={each.y} />
          ))}
          <Axis picture={picture} />
          {chosen && <rect class="chosen" x={chosen.x - 10} y={AXIS - 4} width="20" height={picture.height - AXIS} rx="4" />}
          {picture.bars.map((each, at) => (
            <g key={at} class={`bar ${each.kind} hue${each.hue}`} onClick={() => props.onSelect(each.column)}>
              <rect x={each.x - 8} y={each.y - 11} width={Math.max(6, each.end - each.x - 2)} height="22" rx="5" />
              {each.kind === "held" && <rect x={each.x - 8} y={each.y - 11} width={Math.max(6, each.end - each.x - 2)} height="22" rx="5" class="waiting" />}
            </g>
          ))}
          {picture.arrows.map((each, at) => (
            <Arrows key={at} x={picture.columns[each.column]!.x} {...each} />
          ))}
          {picture.bars.map((each, at) =>
            each.text && each.end - each.x > each.text.length * 6 + 8 ? (
              <g key={at} class={`bar-text ${each.kind}`} onClick={() => props.onSelect(each.column)}>
                {each.number > 0 && <Circle x={each.x + 2} y={each.y} number={each.number} />}
                <text x={each.x + (each.number > 0 ? 14 : 6)} y={each.y + 4}>
                  {each.text}
                </text>
              </g>
            ) : null,
          )}
          {picture.marks.map((each, at) => (
            <g key={at} class={`mark ${each.kind} hue${each.hue}`} onClick={() => props.onSelect(each.column)}>
              <Mark x={picture.columns[each.column]!.x} y={each.y} kind={each.kind} />
              <text x={picture.columns[each.column]!.x + 9} y={each.y + 4}>
                {each.text}
              </text>
            </g>
          ))}
          {picture.labels.map((each, at) => (
            <g key={at} class={`label ${each.tone}`} onClick={() => props.onSelect(each.column)}>
              {each.number > 0 && <Circle x={picture.columns[each.column]!.x} y={each.y} number={each.number} />}
              {each.number === 0 && <circle class="dot" cx={picture.columns[each.column]!.x} cy={each.y} r="4" />}
              <text x={picture.columns[each.column]!.x + 12} y={each.y + 4}>
                {each.text}
              </text>
            </g>
          ))}
        </svg>
      </div>
    </div>
  );
}

function Circle(props: { x: number; y: number; number: number }) {
  return (
    <g class="circle">
      <circle cx={props.x} cy={props.y} r="8" />
      <text x={props.x} y={props.y + 3.5} text-anchor="middle">
        {props.number}
      </text>
    </g>
  );
}

function Mark(props: { x: number; y: number; kind: string }) {
  const { x, y } = props;
  if (props.kind === "commit" || props.kind === "abort")
    return <path d={`M${x} ${y - 7}l7 7l-7 7l-7-7z`} />;
  if (props.kind === "refused") return <path class="cross" d={`M${x - 5} ${y - 5}l10 10m0-10l-10 10`} />;
  return <circle cx={x} cy={y} r="5" />;
}

function Arrows(props: { x: number; from: number; to: number[]; kind: string; bad: boolean; hue: number }) {
  return (
    <g class={`arrow ${props.kind} ${props.bad ? "bad" : ""} hue${props.hue}`}>
      {props.to.map((y, at) => {
        const down = y > props.from ? 1 : -1;
        return <line key={at} x1={props.x} x2={props.x} y1={props.from + 8 * down} y2={y - 9 * down} marker-end="url(#head)" />;
      })}
    </g>
  );
}

function Axis(props: { picture: Picture }) {
  let last = -TICK;
  return (
    <g class="axis">
      {props.picture.columns.map(({ step, x, pause }, at) => {
        const isTick = x - last >= TICK || (pause > 0 && x - last >= TICK / 2);
        if (isTick) last = x;
        return (
          <g key={at}>
            {pause > 0 && (
              <>
                <line class="pause" x1={x - 40} x2={x - 40} y1={AXIS} y2={props.picture.height} />
                <text class="pause" x={x - 40} y={AXIS - 8} text-anchor="middle">
                  +{duration(pause)}
                </text>
              </>
            )}
            {isTick && (
              <text x={x - 8} y={AXIS - 8}>
                {timeOfDay(step.at_ms)}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}
