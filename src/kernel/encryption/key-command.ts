/**
 * A master key behind the operator's key command: an executable that wraps and unwraps with a key management service or a
 * hardware module. It is started once per call, without a shell; one JSON object on its standard input, one on its standard output.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  DecryptionFailed,
  KeyCommandFailed,
  type KeyCommandOutcome,
  keyCommandOutcomes,
  MasterKeyMissing,
} from './failures.ts'
import type { FileKeyring, KeyCommandCalls, Keyring, KeyWrapper } from './keyring.ts'

export interface KeyCommandOptions {
  /** Program and arguments. */
  readonly argv: readonly string[]
  /** Names of its keys: the first wraps, all unwrap. They are passed to the program, which decides what they mean. */
  readonly key_ids: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** From the call to the answer, including the wait for other calls. */
  readonly timeout_ms?: number
}

export interface KeyCommand extends KeyWrapper {
  listCalls(): readonly KeyCommandCalls[]
}

/** Both different from the prefix of keys that a file wraps. Only the current one is written. */
const PREFIX = 'c2'
/** Without a checksum: `c1.<key id>.<what the command returned>`, and the digest inside covers the context only. */
const EARLIER_PREFIX = 'c1'
const PROTOCOL = 1
const TIMEOUT_MS = 5000
/** A call that has waited so long for others that less is left is not begun. */
const MIN_RUN_MS = 200
/** A service that hangs must not fill the machine with processes. */
const MAX_RUNNING = 8
const MAX_OUTPUT_BYTES = 64 * 1024
const MAX_SHOWN_CHARACTERS = 300
const DIGEST_BYTES = 32

type Operation = KeyCommandCalls['operation']
const operations: readonly Operation[] = ['wrap', 'unwrap']
interface CallOptions {
  readonly deadline: number
  /** Throws when the answer cannot be right. */
  readonly verify?: (answer: Buffer) => void
}
/** The member of the answer that holds the result. */
const members: Readonly<Record<Operation, string>> = { wrap: 'wrapped', unwrap: 'plaintext' }

export function createKeyCommand(options: KeyCommandOptions): KeyCommand {
  const { key_ids, timeout_ms = TIMEOUT_MS } = options
  const [key_id] = key_ids
  if (key_id === undefined) throw new TypeError('A key command needs the name of a key')
  const slots = new Slots(MAX_RUNNING)
  const counts = new Map(
    operations.flatMap((operation) => keyCommandOutcomes.map((outcome) => [`${operation} ${outcome}`, 0])),
  )

  const count = (operation: Operation, outcome: KeyCommandOutcome) => {
    const name = `${operation} ${outcome}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const call = async (operation: Operation, request: object, how: CallOptions): Promise<Buffer> => {
    try {
      const release = await slots.acquire(how.deadline - performance.now() - MIN_RUN_MS)
      if (!release) throw new KeyCommandFailed('timeout', `is busy: ${MAX_RUNNING} calls have not answered yet`)
      try {
        const text = JSON.stringify({ protocol: PROTOCOL, operation, ...request })
        const answer = parseAnswer(await run(options, text, how.deadline - performance.now()), members[operation])
        how.verify?.(answer)
        count(operation, 'ok')
        return answer
      } finally {
        release()
      }
    } catch (error) {
      if (error instanceof KeyCommandFailed) count(operation, error.outcome)
      throw error
    }
  }
  const program = options.argv[0] ?? ''

  return {
    key_id,
    key_ids,
    wrap: async (key, context) => {
      const deadline = performance.now() + timeout_ms
      // The program may ignore the context; the digest binds the key to it nevertheless.
      const plaintext = Buffer.concat([digestKey(context, key), key])
      const wrapped = await call('wrap', { key_id, context, plaintext: plaintext.toString('base64') }, { deadline })
      // A key that cannot be unwrapped again would be lost as soon as the caller has stored it.
      const verify = (reopened: Buffer) => {
        if (!reopened.equals(plaintext)) throw new KeyCommandFailed('wrong_key', 'returned another key')
      }
      const request = { key_id, context, wrapped: wrapped.toString('base64') }
      await call('unwrap', request, { deadline, verify }).catch((error) => failVerification(error, program, key_id))
      return formatWrapped(key_id, wrapped, context)
    },
    unwrap: async (text, context) => {
      const { id, wrapped, has_checksum } = parseWrapped(text, context)
      if (!key_ids.includes(id)) throw new MasterKeyMissing(id)
      const verify = (plaintext: Buffer) => {
        const key = plaintext.subarray(DIGEST_BYTES)
        const digest = has_checksum ? digestKey(context, key) : digestContext(context)
        if (key.length > 0 && plaintext.subarray(0, DIGEST_BYTES).equals(digest)) return
        // Without a checksum, the stored text may be the reason as well.
        if (!has_checksum) throw new DecryptionFailed('it was altered or belongs to another context')
        const what = `${program} returned another key than was wrapped with the key ${id}; the stored text is intact`
        throw new KeyCommandFailed('wrong_key', what)
      }
      const request = { key_id: id, context, wrapped: wrapped.toString('base64') }
      const plaintext = await call('unwrap', request, { deadline: performance.now() + timeout_ms, verify })
      return plaintext.subarray(DIGEST_BYTES)
    },
    listCalls: () =>
      [...counts].map(([name, count]) => {
        const [operation, outcome] = name.split(' ') as [Operation, KeyCommandOutcome]
        return { operation, outcome, count }
      }),
  }
}

/** The program and the key are named, since the operator has to repair one of them before anything is wrapped. */
function failVerification(error: unknown, program: string, key_id: string): never {
  if (!(error instanceof KeyCommandFailed)) throw error
  const reason = error.message.replace(/^The key command /, '')
  const what = `${program} does not unwrap what it has just wrapped with the key ${key_id}, so the key was not stored: it`
  throw new KeyCommandFailed(error.outcome, `${what} ${reason}`)
}

/** Both may be there while an installation moves from one to the other; `current` says which one wraps. */
export function combineKeyrings(
  files: FileKeyring | null,
  command: KeyCommand | null,
  current: 'file' | 'command',
): Keyring {
  const ordered = (current === 'command' ? [command, files] : [files, command]).filter((wrapper) => wrapper !== null)
  const [first] = ordered
  if (!first || first !== (current === 'command' ? command : files))
    throw new TypeError('There is no current master key')
  return {
    key_id: first.key_id,
    key_ids: ordered.flatMap(({ key_ids }) => key_ids),
    wrap: first.wrap,
    unwrap: async (wrapped, context) => {
      const wrapper = isWrappedByCommand(wrapped) ? command : files
      if (!wrapper) throw new MasterKeyMissing(wrapped.split('.')[1] ?? '')
      return wrapper.unwrap(wrapped, context)
    },
    deriveEach: files ? files.deriveEach : () => [],
    listCommandCalls: () => command?.listCalls() ?? [],
  }
}

const digestContext = (context: string): Buffer => createHash('sha256').update(context).digest()

/** Both parts are hashed with a fixed length before they are joined, so that neither can run into the other. */
const digestKey = (context: string, key: Buffer): Buffer =>
  createHash('sha256').update(digestContext(context)).update(createHash('sha256').update(key).digest()).digest()

const isWrappedByCommand = (text: string): boolean =>
  text.startsWith(`${PREFIX}.`) || text.startsWith(`${EARLIER_PREFIX}.`)

/**
 * Of the stored text, without any key: it tells a text that was damaged or moved from a command that answers wrongly. What
 * authenticates the key is the digest inside.
 */
const computeChecksum = (id: string, wrapped: Buffer, context: string): Buffer =>
  createHash('sha256')
    .update(`${PREFIX}.${id}.${wrapped.toString('base64url')}.${context}`)
    .digest()

/** `c2.<key id>.<what the command returned>.<checksum>`. */
const formatWrapped = (id: string, wrapped: Buffer, context: string): string =>
  [PREFIX, id, ...[wrapped, computeChecksum(id, wrapped, context)].map((part) => part.toString('base64url'))].join('.')

function parseWrapped(text: string, context: string): { id: string; wrapped: Buffer; has_checksum: boolean } {
  const [prefix, id, encoded, checksum, ...more] = text.split('.')
  const has_checksum = prefix === PREFIX
  const isComplete = has_checksum ? checksum !== undefined : prefix === EARLIER_PREFIX && checksum === undefined
  if (!isComplete || id === undefined || encoded === undefined || more.length > 0) {
    throw new DecryptionFailed('it is not a key that a key command has wrapped')
  }
  const wrapped = Buffer.from(encoded, 'base64url')
  // Decoding ignores stray characters and spare bits; only the canonical spelling is accepted.
  if (wrapped.length === 0 || wrapped.toString('base64url') !== encoded) throw new DecryptionFailed('it is damaged')
  if (has_checksum && computeChecksum(id, wrapped, context).toString('base64url') !== checksum) {
    throw new DecryptionFailed('it was altered or belongs to another context')
  }
  return { id, wrapped, has_checksum }
}

/** `{ "<member>": "<base64>" }`. Nothing of an unusable answer is repeated: it may hold a key. */
function parseAnswer(output: string, member: string): Buffer {
  let answer: unknown
  try {
    answer = JSON.parse(output)
  } catch {
    throw new KeyCommandFailed('bad_answer', 'printed something that is not JSON')
  }
  const text = (answer as Record<string, unknown> | null)?.[member]
  const bytes = typeof text === 'string' ? Buffer.from(text, 'base64') : undefined
  if (!bytes || bytes.length === 0 || bytes.toString('base64') !== text) {
    throw new KeyCommandFailed('bad_answer', `printed no member "${member}" in base64`)
  }
  return bytes
}

/** What the program printed on its standard output. When the time is over, it is killed with everything it has started. */
function run(options: KeyCommandOptions, input: string, timeout_ms: number): Promise<string> {
  const [program = '', ...args] = options.argv
  return new Promise((resolve, reject) => {
    // In a process group of its own, so that what a script has started ends with it.
    const child = spawn(program, args, { env: options.environment, shell: false, detached: true, windowsHide: true })
    let output = ''
    let errors = ''
    const end = (failure: KeyCommandFailed) => {
      clearTimeout(timer)
      killGroup(child)
      child.stdout.destroy()
      child.stderr.destroy()
      reject(failure)
    }
    const timer = setTimeout(() => end(new KeyCommandFailed('timeout', 'did not answer in time')), timeout_ms)
    child.once('error', (error) => end(new KeyCommandFailed('not_started', `cannot be started: ${error.message}`)))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.length > MAX_OUTPUT_BYTES) end(new KeyCommandFailed('bad_answer', 'printed too much'))
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (errors.length < MAX_OUTPUT_BYTES) errors += text
    })
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      if (code === 0) return resolve(output)
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`
      reject(new KeyCommandFailed('exit_code', `${how}${describeErrors(errors)}`))
    })
    // A program that ends without reading its input is judged by its exit code.
    child.stdin.on('error', () => {}).end(`${input}\n`)
  })
}

/** The group outlives the program while something that it has started holds its output open. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

/** The program's own words for the log, without what could be a key. */
function describeErrors(text: string): string {
  const shown = text
    .replace(/[A-Za-z0-9+/=_-]{40,}/g, '…')
    .replace(/[^\x20-\x7e…]+/g, ' ')
    .trim()
  return shown === '' ? '' : `: ${shown.slice(0, MAX_SHOWN_CHARACTERS)}`
}

/** At most so many at a time, in order; null when none becomes free in time. */
class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(size: number) {
    this.#free = size
  }

  async acquire(timeout_ms: number): Promise<(() => void) | null> {
    if (this.#free > 0) this.#free--
    else if (!(await this.#wait(timeout_ms))) return null
    return () => {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }

  #wait(timeout_ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const admit = () => {
        clearTimeout(timer)
        resolve(true)
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(admit), 1)
        resolve(false)
      }, timeout_ms)
      this.#waiting.push(admit)
    })
  }
}
