// When something began and how long it took, in words. Pure.

import type { Touched, Turn } from "./transcript";

/** In seconds since 1970; unknown of what is told again, and of what an earlier version has kept. */
export interface Timed {
  began?: number | undefined;
  ended?: number | undefined;
}

/** What took less is not worth the words. */
const LEAST_SECONDS = 1;

/** How long it took; "" where that is not known, or next to nothing. */
export function took({ began, ended }: Timed): string {
  if (began === undefined || ended === undefined) return "";
  const seconds = ended - began;
  if (seconds < LEAST_SECONDS) return "";
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Of what the agent thought: it ends with what comes after it. */
export function thoughtTook({ parts, ended }: Turn, index: number): string {
  const next = parts.slice(index + 1).find(({ began }) => began !== undefined);
  return took({ ...parts[index], ended: next?.began ?? ended });
}

/** Notes when the part that an event added began; 0 is no time. */
export function stamp({ turn, part = -1 }: Touched, known: number, time: number): void {
  const added = part >= known ? turn?.parts[part] : undefined;
  if (added !== undefined && time > 0) added.began = time;
}
