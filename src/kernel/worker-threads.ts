/** Worker threads of a process: each is declared by the module that uses it, created on first use and closed with the process. */
import path from 'node:path'
import type { ThreadAdmission } from './thread-admission.ts'

interface Closeable {
  close(): Promise<unknown>
}

export interface ThreadOptions {
  /** Path of the built script: worker threads cannot run from the sources. */
  readonly script: string
  readonly admission: ThreadAdmission
}

export interface ThreadDeclaration<T extends Closeable> {
  /** Name of the built script. */
  readonly script: string
  readonly create: (options: ThreadOptions) => T
}

/** Two declarations of the same script are two threads. */
export const declareThread = <T extends Closeable>(declaration: ThreadDeclaration<T>): ThreadDeclaration<T> =>
  declaration

export class WorkerThreads {
  /** Every worker thread of the process runs under a slot of this. */
  readonly admission: ThreadAdmission
  readonly #scripts_dir: string
  readonly #created = new Map<object, Closeable>()

  constructor(admission: ThreadAdmission, scripts_dir: string) {
    this.admission = admission
    this.#scripts_dir = scripts_dir
  }

  get<T extends Closeable>(declaration: ThreadDeclaration<T>): T {
    let thread = this.#created.get(declaration) as T | undefined
    if (!thread) {
      thread = declaration.create({ script: this.scriptPath(declaration.script), admission: this.admission })
      this.#created.set(declaration, thread)
    }
    return thread
  }

  scriptPath(name: string): string {
    return path.join(this.#scripts_dir, `${name}.mjs`)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#created.values()].map((thread) => thread.close()))
  }
}
