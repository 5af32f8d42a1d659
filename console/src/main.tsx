// The page: the list of pages, the one that is shown, and whether the broker answers.

import { type ComponentChildren, render } from "preact";
import { useEffect, useState } from "preact/hooks";

import { tokenWanted, useToken } from "./api";
import { ClusterPage } from "./pages/cluster";
import { FaultsPage } from "./pages/faults";
import { GroupsPage } from "./pages/groups";
import { RequestsPage } from "./pages/requests";
import { TopicsPage } from "./pages/topics";
import { TransactionsPage } from "./pages/transactions";
import { linkTo, place } from "./route";
import { about, isLive, listen, lost, whyNot } from "./store";
import "./style.css";
import type { About } from "./types";

interface Listed {
  name: string;
  title: string;
  page: () => ComponentChildren;
  kinds: string;
  /** A proxy does not have it. */
  ofBrokers?: boolean;
  /** A recording does not have it. */
  ofRunning?: boolean;
}

const has = (kind: About["kind"] | undefined, each: Listed): boolean =>
  !(each.ofBrokers && (kind === "proxy" || kind === "recording")) && !(each.ofRunning && kind === "recording");

const PAGES: Listed[] = [
  { name: "transactions", title: "Transactions", page: TransactionsPage, kinds: "step" },
  { name: "requests", title: "Requests", page: RequestsPage, kinds: "request" },
  { name: "topics", title: "Topics", page: TopicsPage, kinds: "step", ofBrokers: true },
  { name: "groups", title: "Groups", page: GroupsPage, kinds: "step", ofBrokers: true },
  { name: "faults", title: "Faults and clock", page: FaultsPage, kinds: "fault", ofRunning: true },
  { name: "cluster", title: "Cluster", page: ClusterPage, kinds: "log", ofBrokers: true },
];

function App() {
  const pages = PAGES.filter((each) => has(about.value?.kind, each));
  const now = pages.find((each) => each.name === place.value.page) ?? pages[0]!;
  useEffect(() => {
    listen(now.kinds);
    document.title = `${now.title} · Fencepost`;
  }, [now]);
  const Now = now.page;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <nav class="pages" aria-label="Pages">
        <a class="brand" href={linkTo("transactions")}>
          <img src="icon.svg" alt="" width="22" height="22" />
          Fencepost
        </a>
        <ul>
          {pages.map((each) => (
            <li key={each.name}>
              <a href={linkTo(each.name)} aria-current={each === now ? "page" : undefined}>
                {each.title}
              </a>
            </li>
          ))}
        </ul>
        <Live />
      </nav>
      <main id="main" tabIndex={-1}>
        {tokenWanted.value ? <Token /> : <Now />}
      </main>
    </>
  );
}

function Live() {
  const isOn = isLive.value && !tokenWanted.value;
  return (
    <div class="live" role="status">
      <span class={isOn ? "dot on" : "dot"} aria-hidden="true" />
      {!isOn ? "not connected" : about.value?.kind === "recording" ? "a recording" : "live"}
      {!isOn && whyNot.value && <small>{whyNot.value}</small>}
      {lost.value > 0 && (
        <small title="Of many requests of one API, a sample is told: the page of requests has the numbers.">
          {lost.value.toLocaleString("en")} events left out
        </small>
      )}
    </div>
  );
}

function Token() {
  const [given, setGiven] = useState("");
  return (
    <form
      class="card token"
      onSubmit={(event) => {
        event.preventDefault();
        useToken(given);
      }}
    >
      <h1>This control port needs its token</h1>
      <p class="hint">
        It is the content of the file that was given as <code>--control-token-file</code>. It stays
        in this tab.
      </p>
      <label class="field">
        <span>Token</span>
        <input
          type="password"
          autocomplete="off"
          required
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
      </label>
      <button class="main">Use it</button>
      <p class="wrong" role="alert">
        {tokenWanted.value}
      </p>
    </form>
  );
}

render(<App />, document.getElementById("app")!);
