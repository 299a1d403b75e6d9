"""A double of Meerkat's ``rkat-rpc``: its wire on stdio, with a script for a model.

    python rkat_rpc.py [--wire 0.9.8|0.8.26|seed] --script FILE [--log FILE] [rkat-rpc's own flags]

Stand-alone, standard library only. What it says as 0.9.8 is held against the real one
(``tests/system/agents_real/test_meerkat_real.py``); the older two are built to their documents. It
is stricter than the real one: a parameter that it does not know is refused. And it forgets what it
was killed over, which the real one does once more before the next prompt.

FILE has {"runs": [RUN, …]}; each prompt of any session takes the next one, after the last it says
so. Or it has {"steps": [STEP, …]}, of which each model call takes the next one, whichever prompt it
is for. All is optional:

    RUN   {"steps": [STEP, …], "refused": ERROR, "error": ERROR, "failed": {"class", "message"},
           "cause": "…", "late": bool, "die": bool}
    STEP  {"text", "thinking", "calls": [{"name", "args"}], "stop", "events": [payload, …],
           "hang": bool, "delay": seconds, "error": ERROR}
    ERROR {"code", "message"}: the response, before the run has begun or after its steps; a step's
          is its provider's

``failed`` is told by ``run_failed``; ``late`` sends the last events after the response; ``hang``
waits for an interrupt; ``delay`` is the silence of the model before it answers; ``die`` kills the
process after the steps. ``--log`` gets every frame that is received, ``--asked`` a line for each
step that is taken, ``--state-root`` keeps sessions.

Its model calls a session's own tools as they are, and loads those that were registered from the
catalogue first, if it was told to. 0.8.26 hides both. As 0.9.8 it drops a session whose only run
was interrupted before a tool ran, and the session's tools where it was a later one; a prompt that
comes while another one runs waits for it.
"""

import argparse
import itertools
import json
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

CATALOGUE = "tool_catalog_load"
MODELS = {
    "anthropic": [("claude-double", 200_000), ("claude-other", 100_000)],
    "openai": [("gpt-double", 400_000)],
}
METHODS = {
    "seed": [
        "session/create",
        "session/list",
        "session/read",
        "session/archive",
        "turn/start",
        "turn/interrupt",
        "config/get",
        "config/set",
        "config/patch",
    ],
}
METHODS["0.8.26"] = [
    "initialize",
    "capabilities/get",
    *METHODS["seed"],
    "session/history",
    "models/catalog",
    "tools/register",
]
METHODS["0.9.8"] = [*METHODS["0.8.26"], "turn/stop_run"]

CREATE = {"prompt", "model", "max_tokens", "system_prompt", "enable_builtins", "enable_shell"}
CREATE_NOW = CREATE | {
    "provider",
    "initial_turn",
    "additional_instructions",
    "external_tools",
    "provider_params",
    "labels",
    "enable_memory",
    "enable_schedule",
    "enable_mob",
    "enable_web_search",
    "enable_workgraph",
    "session_events",
}
TURN = {"session_id", "prompt"}
TURN_NOW = TURN | {"model", "provider", "provider_params", "additional_instructions"}

#: What the model says when its script has ended.
OVER: Json = {"text": "The script is over."}
PARSE, INVALID, NOT_FOUND, PARAMS = -32700, -32600, -32601, -32602


class RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message}


class Session:
    def __init__(self, session_id: str, params: Json) -> None:
        self.id = session_id
        self.params = params
        self.model = params.get("model") or "claude-double"
        self.provider = params.get("provider") or "anthropic"
        self.tools: list[Json] = params.get("external_tools") or []
        self.rows: list[Json] = []
        self.input, self.output = 0, 0
        self.seq = itertools.count()
        self.loaded: set[str] = set()
        self.runs = 0
        self.running = threading.Lock()
        self.called = False
        self.interrupted = threading.Event()
        self.created = int(time.time())
        self.run_in, self.run_out = 0, 0

    def state(self) -> str:
        return "running" if self.running.locked() else "idle"

    def usage(self) -> Json:
        return {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "total_tokens": self.input + self.output,
        }


class Interrupted(Exception):
    pass


class Server:
    def __init__(self, options: argparse.Namespace) -> None:
        self.wire = options.wire
        self.seed = options.wire == "seed"
        script = json.loads(Path(options.script).read_text())
        self.runs: list[Json] = script.get("runs", [])
        self.model: Iterator[Json] | None = None
        if "steps" in script:
            self.model = itertools.chain(script["steps"], itertools.repeat(OVER))
        self.log = options.log
        self.asked = options.asked
        self.store = None
        if options.state_root:
            self.store = Path(options.state_root) / (options.realm or "none")
            self.store.mkdir(parents=True, exist_ok=True)
        self.sessions: dict[str, Session] = {}
        self.registered: list[Json] = []
        self.config: Json = {"agent": {"model": "claude-double"}}
        self.generation = 0
        self.writing = threading.RLock()
        self.taking = threading.Lock()
        self.server_ids = itertools.count()
        self.answers: dict[str, list[Any]] = {}
        self.answered = threading.Condition()

    # The wire

    def send(self, frame: Json) -> None:
        data = json.dumps({"jsonrpc": "2.0", **frame}).encode() + b"\n"
        with self.writing:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def serve(self) -> None:
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            if self.log:
                with Path(self.log).open("ab") as log:
                    log.write(line)
            try:
                frame = json.loads(line)
            except ValueError as problem:
                error = {"code": PARSE, "message": f"Parse error: {problem}"}
                self.send({"id": None, "error": error})
                continue
            if "method" not in frame:
                self.take_answer(frame)
            elif "id" not in frame:
                self.take_notification(frame)
            else:
                self.take_request(frame)

    def take_answer(self, frame: Json) -> None:
        with self.answered:
            self.answers[frame["id"]] = [frame.get("result"), frame.get("error")]
            self.answered.notify_all()

    def take_notification(self, frame: Json) -> None:
        if frame["method"] == "cancel" and not self.seed:
            for session in self.sessions.values():
                session.interrupted.set()

    def take_request(self, frame: Json) -> None:
        method, params = frame["method"], frame.get("params") or {}
        runs = method == "turn/start" or (
            method == "session/create" and params.get("initial_turn") != "deferred"
        )
        if runs:
            threading.Thread(target=self.respond, args=(frame,), daemon=True).start()
        else:
            self.respond(frame)

    def respond(self, frame: Json) -> None:
        late: list[Json] = []
        try:
            answer = {"result": self.handler(frame)(frame.get("params") or {}, late)}
        except RpcError as problem:
            answer = {"error": problem.error}
        with self.writing:  # before the next turn's events, whatever its thread does
            self.send({"id": frame["id"], **answer})
            for params in late:
                self.send({"method": "session/event", "params": params})

    def handler(self, frame: Json) -> Callable[[Json, list[Json]], Json]:
        if frame.get("jsonrpc") != "2.0":
            raise RpcError(INVALID, "jsonrpc must be 2.0")
        method = frame["method"]
        if method != "initialize" and method not in METHODS[self.wire]:
            raise RpcError(NOT_FOUND, f"Method not found: {method}")
        return getattr(self, "on_" + method.replace("/", "_"))

    def known(self, params: Json, allowed: set[str]) -> None:
        if unknown := sorted(set(params) - allowed):
            raise RpcError(PARAMS, f"unknown field `{unknown[0]}`")

    def session(self, params: Json) -> Session:
        session = self.sessions.get(params.get("session_id", "")) or self.stored(params)
        if session is None:
            raise RpcError(-32000 if self.seed else -32001, "Session not found")
        return session

    def stored(self, params: Json) -> Session | None:
        file = self.store / f"{params.get('session_id')}.json" if self.store else None
        if file is None or not file.exists():
            return None
        kept = json.loads(file.read_text())
        session = self.sessions[kept["id"]] = Session(kept["id"], kept["params"])
        session.tools = []  # a client's tools are not kept
        session.rows, session.input, session.output = kept["rows"], *kept["usage"]
        return session

    def keep(self, session: Session) -> None:
        if self.store:
            usage = [session.input, session.output]
            kept = {"id": session.id, "params": session.params, "rows": session.rows}
            text = json.dumps(kept | {"usage": usage})
            (self.store / f"{session.id}.json").write_text(text)

    # Methods

    def on_initialize(self, _params: Json, _late: list[Json]) -> Json:
        if self.seed:
            info = {"name": "meerkat-rpc", "version": "0.1.0"}
            return {"server_info": info, "methods": METHODS["seed"]}
        info = {"name": "meerkat-rpc", "version": self.wire}
        methods = METHODS[self.wire]
        return {"server_info": info, "contract_version": self.wire, "methods": methods}

    def on_capabilities_get(self, _params: Json, _late: list[Json]) -> Json:
        entry = {"id": "sessions", "description": "Sessions", "status": "Available"}
        return {"contract_version": self.version(), "capabilities": [entry]}

    def version(self) -> Json:
        return dict(zip(("major", "minor", "patch"), map(int, self.wire.split(".")), strict=True))

    def on_session_create(self, params: Json, late: list[Json]) -> Json:
        self.known(params, CREATE if self.seed else CREATE_NOW)
        if "prompt" not in params:
            raise RpcError(PARAMS, "missing field `prompt`")
        known = {model for models in MODELS.values() for model, _ in models}
        if params.get("model", "claude-double") not in known:
            raise RpcError(PARAMS, f"cannot infer provider from model '{params['model']}'")
        session = Session(str(uuid.uuid4()), params)
        self.sessions[session.id] = session
        self.keep(session)
        if params.get("initial_turn") == "deferred":
            return {"session_id": session.id}
        return self.run(session, params["prompt"], late)

    def on_session_list(self, _params: Json, _late: list[Json]) -> Json:
        if self.seed:
            rows = [
                {"session_id": each.id, "state": each.state()} for each in self.sessions.values()
            ]
            return {"sessions": rows}
        return {"sessions": [self.summary(each) for each in self.sessions.values()]}

    def summary(self, session: Session) -> Json:
        return {
            "session_id": session.id,
            "created_at": session.created,
            "updated_at": int(time.time()),
            "message_count": len(session.rows),
            "total_tokens": session.input + session.output,
            "is_active": session.running.locked(),
        }

    def on_session_read(self, params: Json, _late: list[Json]) -> Json:
        session = self.session(params)
        if self.seed:
            return {
                "session_id": session.id,
                "state": "running" if session.running.locked() else "idle",
            }
        row = self.summary(session)
        del row["total_tokens"]
        return row | {"model": session.model, "provider": session.provider}

    def on_session_history(self, params: Json, _late: list[Json]) -> Json:
        session = self.session(params)
        offset, limit = params.get("offset", 0), params.get("limit") or 1000
        page = session.rows[offset : offset + limit]
        return {
            "session_id": session.id,
            "message_count": len(session.rows),
            "offset": offset,
            "limit": limit,
            "has_more": offset + len(page) < len(session.rows),
            "messages": page,
        }

    def on_session_archive(self, params: Json, _late: list[Json]) -> Json:
        del self.sessions[self.session(params).id]
        return {} if self.seed else {"archived": True}

    def on_turn_start(self, params: Json, late: list[Json]) -> Json:
        self.known(params, TURN if self.seed else TURN_NOW | {"session_events"})
        session = self.session(params)
        session.model = params.get("model") or session.model
        session.provider = params.get("provider") or session.provider
        return self.run(session, params["prompt"], late)

    def on_turn_interrupt(self, params: Json, _late: list[Json]) -> Json:
        session = self.session(params)
        session.interrupted.set()
        if self.seed:
            return {}
        return {"session_id": session.id, "interrupted": True, "result": "interrupted"}

    def on_config_get(self, _params: Json, _late: list[Json]) -> Json:
        return self.config if self.seed else {"config": self.config, "generation": self.generation}

    def on_config_set(self, params: Json, late: list[Json]) -> Json:
        self.config = params.get("config", params)
        self.generation += 1
        return self.on_config_get(params, late)

    def on_config_patch(self, params: Json, late: list[Json]) -> Json:
        self.config = merged(self.config, params.get("patch", params))
        self.generation += 1
        return self.on_config_get(params, late)

    def on_models_catalog(self, _params: Json, _late: list[Json]) -> Json:
        providers = [
            {
                "provider": provider,
                "default_model_id": models[0][0],
                "models": [
                    {
                        "id": model,
                        "display_name": model,
                        "tier": "recommended",
                        "context_window": window,
                        "max_output_tokens": 8192,
                    }
                    for model, window in models
                ],
            }
            for provider, models in MODELS.items()
        ]
        return {"contract_version": self.version(), "providers": providers}

    def on_tools_register(self, params: Json, _late: list[Json]) -> Json:
        self.registered = params["tools"]
        return {"registered": len(self.registered)}

    # A run

    def run(self, session: Session, prompt: Any, late: list[Json]) -> Json:
        if not session.running.acquire(blocking=self.wire == "0.9.8"):
            raise RpcError(-32001 if self.seed else -32002, "Session busy")
        try:
            with self.taking:
                run = self.runs.pop(0) if self.runs else {"steps": [OVER]}
            session.interrupted.clear()
            session.run_in, session.run_out, session.called = 0, 0, False
            result = self.steps(session, prompt, run, late)
            session.runs += 1
        except Interrupted:
            self.cancelled(session)
            raise RpcError(-32005, "request cancelled") from None
        else:
            return result
        finally:
            session.running.release()
            if session.id in self.sessions:
                self.keep(session)

    def cancelled(self, session: Session) -> None:
        if self.wire != "0.9.8":
            return
        session.interrupted.clear()
        self.event(
            session, failure(session, {"class": "cancelled", "message": "Run was cancelled"})
        )
        if session.called:
            session.runs += 1
        elif session.runs:
            session.tools = []
            session.loaded.clear()
        else:
            del self.sessions[session.id]
            if self.store:
                (self.store / f"{session.id}.json").unlink(missing_ok=True)

    def steps(self, session: Session, prompt: Any, run: Json, late: list[Json]) -> Json:
        if error := run.get("refused"):
            raise RpcError(error["code"], error["message"])
        first = self.wire == "0.9.8" and not session.runs and isinstance(prompt, str)
        told = [{"type": "text", "text": prompt}] if first else prompt
        content = {"kind": "content", "content": told}
        started = {"prompt": prompt} if self.seed else {"input": content}
        self.event(session, {"type": "run_started", "session_id": session.id, **started})
        self.row(session, {"role": "user", "content": prompt})
        text, turns, calls = "", 0, 0
        for step in self.model or run.get("steps", []):
            if self.asked:
                with Path(self.asked).open("ab") as asked:
                    asked.write(b"asked\n")
            if step.get("calls") and (loading := self.loading(session)):
                self.step(session, turns, loading, None)
                turns, calls = turns + 1, calls + 1
            last = bool(run.get("late")) and step is run["steps"][-1]
            text = self.step(session, turns, step, late if last else None)
            turns, calls = turns + 1, calls + len(step.get("calls", []))
            if self.model and not step.get("calls"):
                break
        if run.get("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        if failed := run.get("failed"):
            self.event(session, failure(session, failed))
        if error := run.get("error"):
            raise RpcError(error["code"], error["message"])
        completed = {"type": "run_completed", "session_id": session.id, "result": text}
        used = {"input_tokens": session.input, "output_tokens": session.output}
        completed |= {"usage": used, "extraction_required": False}
        self.event(session, completed, late if run.get("late") else None)
        result: Json = {"session_id": session.id, "text": text, "turns": turns}
        result |= {"tool_calls": calls, "usage": session.usage()}
        if self.wire == "0.9.8":
            used = {"input_tokens": session.run_in, "output_tokens": session.run_out}
            result["run_usage"] = used | {"total_tokens": session.run_in + session.run_out}
        if cause := run.get("cause"):
            result["terminal_cause_kind"] = cause
        return result

    def loading(self, session: Session) -> Json | None:
        """The call that loads the client's tools, if the model needs it and was told of it."""
        told = CATALOGUE in " ".join(session.params.get("additional_instructions") or [])
        hidden = self.hidden(session)
        if not told or not hidden:
            return None
        return {"calls": [{"name": CATALOGUE, "args": {"names": sorted(hidden)}}]}

    def hidden(self, session: Session) -> set[str]:
        """The tools that the model has to load before it can call them."""
        names = {tool["name"] for tool in [*session.tools, *self.registered]}
        if len(names) < 2:
            return set()
        names -= session.loaded
        if self.wire == "0.9.8":
            names -= {tool["name"] for tool in session.tools}
        return names

    def step(self, session: Session, number: int, step: Json, late: list[Json] | None) -> str:
        text, calls = step.get("text", ""), step.get("calls", [])
        # Never late: a whole model call follows it.
        self.event(session, {"type": "turn_started", "turn_number": number})
        session.interrupted.wait(step.get("delay", 0))
        if error := step.get("error"):
            self.event(session, failure(session, {"class": "llm", "message": error["message"]}))
            raise RpcError(error["code"], error["message"])
        if (thinking := step.get("thinking")) and not self.seed:
            self.event(session, {"type": "reasoning_delta", "delta": thinking}, late)
        for payload in step.get("events", []):
            self.event(session, payload, late)
        for start in range(0, len(text), 7):
            self.event(session, {"type": "text_delta", "delta": text[start : start + 7]}, late)
        if thinking and not self.seed:
            self.event(session, {"type": "reasoning_complete", "content": thinking}, late)
        if step.get("hang"):
            session.interrupted.wait()
            raise Interrupted
        if text:
            self.event(session, {"type": "text_complete", "content": text}, late)
        session.input, session.output = session.input + 100, session.output + 10
        session.run_in, session.run_out = session.run_in + 100, session.run_out + 10
        ids = [f"call_{uuid.uuid4().hex[:8]}" for _ in calls]
        blocks = [{"block_type": "text", "data": {"text": text}}] if text else []
        for call_id, call in zip(ids, calls, strict=True):
            named = {"id": call_id, "name": call["name"], "args": call["args"]}
            blocks.append({"block_type": "tool_use", "data": named})
            self.event(session, {"type": "tool_call_requested", **named}, late)
        stop = step.get("stop", "tool_use" if calls else "end_turn")
        self.row(session, {"role": "block_assistant", "blocks": blocks, "stop_reason": stop})
        ended = {"type": "turn_completed", "stop_reason": stop}
        ended |= {"usage": {"input_tokens": 100, "output_tokens": 10}}
        results = [
            self.call(session, call_id, call) for call_id, call in zip(ids, calls, strict=True)
        ]
        if results:
            self.row(session, {"role": "tool_results", "results": results})
        if not calls or self.wire == "0.9.8":
            self.event(session, ended, late)
        return text

    def call(self, session: Session, call_id: str, call: Json) -> Json:
        name = call["name"]
        about = {"id": call_id, "name": name}
        known = {tool["name"] for tool in [*session.tools, *self.registered]} | {CATALOGUE}
        if name in known - self.hidden(session):
            self.event(session, {"type": "tool_execution_started", **about})
            content, is_error = self.execute(session, call_id, call)
        else:
            error = {"error": "tool_not_found", "message": f"Tool not found: {name}"}
            content, is_error = json.dumps(error), True
        blocks = [{"type": "text", "text": content}]
        ended = {"type": "tool_execution_completed", **about, "is_error": is_error}
        ended |= {"duration_ms": 1}
        if self.seed:
            self.event(session, ended | {"result": content})
        else:
            carried = {"content": blocks} if self.wire == "0.8.26" else {}
            self.event(session, ended | carried)
            received = {"type": "tool_result_received", **about, "content": blocks}
            self.event(session, received | {"is_error": is_error})
        return {"tool_use_id": call_id, "content": content, "is_error": is_error}

    def execute(self, session: Session, call_id: str, call: Json) -> tuple[str, bool]:
        name, offered = call["name"], [*session.tools, *self.registered]
        names = {tool["name"] for tool in offered}
        if name == CATALOGUE:
            session.loaded |= names & set(call["args"]["names"])
            return "loaded", False
        session.called = True
        request_id = f"srv-{next(self.server_ids)}"
        params: Json = {"tool_use_id": call_id, "name": name, "arguments": call["args"]}
        if self.wire == "0.9.8":
            key = {"run_id": str(uuid.uuid4()), "round": 0, "call_id": call_id}
            params["dedupe_key"] = key | {"call_digest": uuid.uuid4().hex}
        self.send({"id": request_id, "method": "tool/execute", "params": params})
        with self.answered:
            while request_id not in self.answers:
                if session.interrupted.is_set():
                    raise Interrupted
                self.answered.wait(0.02)
            result, error = self.answers.pop(request_id)
        if error:
            return error["message"], True
        return result["content"], result["is_error"]

    def event(self, session: Session, payload: Json, late: list[Json] | None = None) -> None:
        if session.interrupted.is_set():
            raise Interrupted
        event: Json = payload
        if not self.seed:
            event = {
                "event_id": str(uuid.uuid4()),
                "source": {"type": "session", "session_id": session.id},
                "seq": next(session.seq),
                "timestamp_ms": int(time.time() * 1000),
                "payload": payload,
            }
        params = {"session_id": session.id, "event": event}
        if late is None:
            self.send({"method": "session/event", "params": params})
        else:
            late.append(params)

    def row(self, session: Session, row: Json) -> None:
        session.rows.append({"created_at": "2026-01-01T00:00:00Z", **row})


def failure(session: Session, report: Json) -> Json:
    return {"type": "run_failed", "session_id": session.id, "error_report": report}


def merged(target: Any, patch: Any) -> Any:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--wire", choices=METHODS, default="0.9.8")
    parser.add_argument("--script", required=True)
    parser.add_argument("--log")
    parser.add_argument("--asked")
    for flag in ("--realm", "--state-root", "--context-root", "--instance", "--realm-backend"):
        parser.add_argument(flag)
    parser.add_argument("--isolated", action="store_true")
    Server(parser.parse_args()).serve()


if __name__ == "__main__":
    main()
