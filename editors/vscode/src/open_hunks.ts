// The hunks that wait for a decision, by file: asked for again where something changed, since the
// server looks at each file that it lists. Pure.

import { isOpen } from "./chat/changed_files";
import type { Edit, Hunk } from "./protocol";

/** More files than these are asked for together. */
const APART = 8;

export interface OpenHunk {
  edit: Edit;
  hunk: Hunk;
}

/** What `agent/edits` answers. */
export type ListEdits = (params: { open: true; uri?: string }) => Promise<Edit[]>;

/** Those of one file, or of all. Raises what `list` does. */
export async function openHunks(list: ListEdits, uri?: string): Promise<OpenHunk[]> {
  const edits = await list({ open: true, ...(uri !== undefined && { uri }) });
  return edits
    .flatMap((edit) => (edit.hunks ?? []).map((hunk) => ({ edit, hunk })))
    .filter(({ hunk }) => isOpen(hunk.status));
}

export class OpenHunks {
  private files = new Map<string, OpenHunk[]>();
  private readonly changed = new Set<string>();
  private areAllChanged = true;

  /** `normal` makes one of all forms of a URI. */
  constructor(private readonly normal: (uri: string) => string) {}

  get count(): number {
    return [...this.files.values()].reduce((sum, hunks) => sum + hunks.length, 0);
  }

  in(uri: string): OpenHunk[] {
    return this.files.get(this.normal(uri)) ?? [];
  }

  /** Something of these files is not as it was; of any file where none is named. */
  change(...uris: string[]): void {
    for (const uri of uris) this.changed.add(this.normal(uri));
    this.areAllChanged ||= uris.length === 0 || this.changed.size > APART;
  }

  /** Asks for what changed since the last time; for all of it once more after a failure, which it raises. */
  async refresh(list: ListEdits): Promise<void> {
    const [files, areAll] = [[...this.changed], this.areAllChanged];
    this.changed.clear();
    this.areAllChanged = false;
    try {
      if (areAll) this.files = this.byFile(await openHunks(list));
      else await Promise.all(files.map(async (uri) => this.files.set(uri, await openHunks(list, uri))));
    } catch (error) {
      this.clear();
      throw error;
    }
  }

  /** Of what is there now nothing is known. */
  clear(): void {
    this.files.clear();
    this.areAllChanged = true;
  }

  private byFile(hunks: OpenHunk[]): Map<string, OpenHunk[]> {
    const files = new Map<string, OpenHunk[]>();
    for (const each of hunks) {
      const uri = this.normal(each.edit.uri);
      files.set(uri, [...(files.get(uri) ?? []), each]);
    }
    return files;
  }
}
