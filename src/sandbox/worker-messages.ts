/** Messages between the runner and the thread of the sandbox. */
import type { SandboxResult, SandboxTask } from './model.ts'

/** What the runner sends to its thread. */
export type SandboxWorkerTask = SandboxTask & { readonly sandbox_hash: string }

/** Results of the first items: the runner sends the others again, so that callers take turns. */
export type SandboxWorkerReply =
  | { readonly op: 'ready' }
  | { readonly op: 'ran'; readonly results: readonly SandboxResult[] }
  | { readonly op: 'failed'; readonly message: string }
