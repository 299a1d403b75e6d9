// Which of what was said in a comment was sent with which prompt, and what of it waits. Pure.

import type { Hunk } from "../protocol";

/** A prompt that comments are sent as; on its way it has no turn. */
export interface Round {
  turnId?: string;
}

export interface Comment {
  hunk: Hunk | undefined;
  /** In order; what is in no round waits. */
  said: { text: string; round?: Round }[];
}

/** "" where all of it is sent. */
export function waiting({ said }: Comment): string {
  const texts = said.filter(({ round }) => round === undefined).map(({ text }) => text);
  return texts.join("\n");
}

/** All that waits goes in that round. */
export function put({ said }: Comment, round: Round): void {
  for (const each of said) each.round ??= round;
}

/** What was in that round waits again. */
export function takeBack({ said }: Comment, round: Round): void {
  for (const each of said) if (each.round === round) delete each.round;
}

/** What was in that round is done. */
export function drop(comment: Comment, round: Round): void {
  comment.said = comment.said.filter((each) => each.round !== round);
}

export function isIn({ said }: Comment, round: Round): boolean {
  return said.some((each) => each.round === round);
}
