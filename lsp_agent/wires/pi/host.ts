// Hosts pi in an editor: pi loads this by `-e` (lsp_agent/wires/pi/wire.py). Its file tools are pi's own,
// with operations that go to the editor; every call is asked about before it runs. Both go through
// pi's input dialog, as lsp_agent/wires/pi/dialogs.py says. Whatever fails here blocks the call.

import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import {
	createBashToolDefinition,
	createEditToolDefinition,
	createReadToolDefinition,
	createWriteToolDefinition,
	type ExtensionAPI,
	type ExtensionContext,
	VERSION,
} from "@earendil-works/pi-coding-agent";

const TITLE = "lsp-agent";
const UNICODE_SPACES = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g;

type Request = { ask: "approve" | "read" | "write"; call: string; [key: string]: unknown };
type Answer = { text?: string; note?: string };

async function ask(ctx: ExtensionContext, request: Request, signal?: AbortSignal): Promise<Answer> {
	const said = await ctx.ui.input(TITLE, JSON.stringify(request), { signal });
	if (said === undefined) throw new Error("Not run: the editor did not answer.");
	const answer = JSON.parse(said);
	if (answer.ok === true) return answer;
	if (!answer.missing) throw new Error(answer.reason);
	const message = `ENOENT: no such file or directory, open '${request.path}'`;
	throw Object.assign(new Error(message), { code: "ENOENT" });
}

// As pi will read it, so that what is asked about is what is touched.
function plainPath(path: string): string {
	const plain = path.replace(UNICODE_SPACES, " ").replace(/^@/, "");
	if (plain === "~" || plain.startsWith("~/")) return homedir() + plain.slice(1);
	return plain.startsWith("file://") ? fileURLToPath(plain) : plain;
}

export default function (pi: ExtensionAPI) {
	const cwd = process.cwd();
	// What the model is to read with a call's result.
	const notes = new Map<string, string>();

	const keepNote = (call: string, { note }: Answer) => {
		if (note) notes.set(call, note);
	};

	// The operations of one call.
	const operations = (call: string, ctx: ExtensionContext, signal?: AbortSignal) => {
		let text: Promise<Buffer> | undefined;
		const read = (path: string) => {
			text ??= ask(ctx, { ask: "read", call, path }, signal).then((answer) =>
				Buffer.from(answer.text ?? "", "utf-8"),
			);
			return text;
		};
		return {
			access: async (path: string) => void (await read(path)),
			readFile: read,
			writeFile: async (path: string, text: string) =>
				keepNote(call, await ask(ctx, { ask: "write", call, path, text }, signal)),
			mkdir: async () => {}, // the editor's side makes the folders that a new file needs
		};
	};

	if (process.env.LSP_AGENT_HOSTING !== "mirror") {
		const factories = [createReadToolDefinition, createWriteToolDefinition, createEditToolDefinition];
		for (const make of factories as any[]) {
			pi.registerTool({
				...make(cwd),
				execute: (call: string, params: any, signal: any, onUpdate: any, ctx: ExtensionContext) =>
					make(cwd, { operations: operations(call, ctx, signal) }).execute(call, params, signal, onUpdate, ctx),
			});
		}
	}

	// No command sees what is secret.
	const hidden = new Set(["LSP_AGENT_SECRETS", ...(process.env.LSP_AGENT_SECRETS ?? "").split(" ")]);
	const spawnHook = ({ env, ...spawned }: any) => ({
		...spawned,
		env: Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name))),
	});
	pi.registerTool(createBashToolDefinition(cwd, { spawnHook }));

	pi.on("tool_call", async (event, ctx) => {
		const args = event.input as Record<string, unknown>;
		if (typeof args.path === "string") args.path = plainPath(args.path);
		const request: Request = { ask: "approve", call: event.toolCallId, tool: event.toolName, args };
		try {
			keepNote(event.toolCallId, await ask(ctx, request, ctx.signal));
		} catch (error) {
			return { block: true, reason: (error as Error).message };
		}
	});

	pi.on("tool_result", (event) => {
		const note = notes.get(event.toolCallId);
		notes.delete(event.toolCallId);
		if (note) return { content: [{ type: "text", text: note.trim() }, ...event.content] };
	});

	// Shows that this extension is loaded, and into which pi.
	pi.registerCommand("lsp-agent", { description: VERSION, handler: async () => {} });
}
