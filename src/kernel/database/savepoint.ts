/** Part of a transaction that is undone alone, together with what it wanted to be sent or done with the commit. */
import { isConnectionFailure, isRetryable, translateDatabaseError } from './failures.ts'
import type { Tx } from './tx.ts'

const BEGIN = 'savepoint part'
const ROLLBACK = 'rollback to savepoint part'
const RELEASE = 'release savepoint part'

interface Part {
  readonly tx: Tx
  /** Passes on what waits for the commit of the whole transaction. */
  readonly keep: () => void
  readonly undo: () => Promise<void>
}

async function begin(tx: Tx): Promise<Part> {
  const kept: (() => void)[] = []
  const undone: (() => void)[] = []
  await tx.run(BEGIN)
  return {
    tx: {
      ...tx,
      defer: (text, values) => void kept.push(() => tx.defer(text, values)),
      onCommit: (act) => void kept.push(() => tx.onCommit(act)),
      onRollback: (act) => {
        undone.push(act)
        tx.onRollback(act)
      },
    },
    keep: () => {
      for (const pass of kept) pass()
    },
    undo: async () => {
      await tx.run(ROLLBACK)
      await tx.run(RELEASE)
      for (const act of undone) act()
    },
  }
}

/**
 * What the body has written is undone where it throws; the transaction goes on. A failure after which the whole transaction is repeated,
 * or its connection is gone, is passed on as it is.
 */
export async function runInSavepoint<T>(tx: Tx, body: (part: Tx) => Promise<T>): Promise<T> {
  const part = await begin(tx)
  try {
    const result = await body(part.tx)
    await tx.run(RELEASE)
    part.keep()
    return result
  } catch (error) {
    if (isRetryable(error) || isConnectionFailure(error)) throw error
    await part.undo()
    throw translateDatabaseError(error)
  }
}

/** The body runs and is undone: its result says what would happen. */
export async function runAndUndo<T>(tx: Tx, body: (part: Tx) => Promise<T>): Promise<T> {
  const part = await begin(tx)
  const result = await body(part.tx)
  await part.undo()
  return result
}
