// Where the page is: a fragment such as #/requests?api=Produce, which can be sent to others.

import { signal } from "@preact/signals";

export interface Place {
  page: string;
  given: URLSearchParams;
}

export const place = signal<Place>(read());

function read(): Place {
  const [page = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { page: page || "transactions", given: new URLSearchParams(query) };
}

addEventListener("hashchange", () => (place.value = read()));

/** A link to a page. */
export function linkTo(page: string, given: Record<string, string | number | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return `#/${page}${text ? `?${text}` : ""}`;
}

/** The value of a name in the fragment, and the function that changes it. */
export function given(name: string): string {
  return place.value.given.get(name) ?? "";
}

export function give(changes: Record<string, string | number | undefined>): void {
  const now = Object.fromEntries(place.value.given);
  history.replaceState(null, "", linkTo(place.value.page, { ...now, ...changes }));
  place.value = read();
}
