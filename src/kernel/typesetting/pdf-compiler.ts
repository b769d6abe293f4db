/**
 * Typesets PDF/A-2a files with typst, an optional package, in a process of its own that is killed when it exceeds its limits. The same
 * source, inputs, fonts and version of the package give the same bytes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { ThreadAdmission, WorkKind } from '../thread-admission.ts'
import { type CompileTask, exitCodes } from './compile-task.ts'
import { type Coverage, createSubstitution, readCoverage, type Substituted } from './font-coverage.ts'
import { describeFont, type FontFile, listFontFiles } from './font-files.ts'

export interface PdfSettings {
  /** Fonts of the installation. */
  readonly fonts_dir: string
  /** Fonts of the operator, used after those of the installation. */
  readonly extra_fonts_dir?: string | null
  readonly package?: string
  readonly time_limit_ms?: number
  readonly memory_limit_mib?: number
}

export interface PdfCompilerOptions extends PdfSettings {
  readonly script: string
  readonly admission: ThreadAdmission
}

export interface PdfEngine {
  readonly name: string
  readonly version: string
}

export interface PdfSource {
  readonly source: string
  readonly inputs: Readonly<Record<string, string>>
  readonly created_at: string
}

export interface CompileOptions {
  readonly caller: string
  readonly signal?: AbortSignal
}

type Reason = 'unavailable' | 'refused' | 'memory' | 'time' | 'crashed'

/** Why there is no PDF. */
export class PdfFailure extends Error {
  readonly reason: Reason
  constructor(reason: Reason, message: string) {
    super(message)
    this.name = 'PdfFailure'
    this.reason = reason
  }
}

const PACKAGE = '@myriaddreamin/typst-ts-node-compiler'
/**
 * What npm installs here are the binaries that the lock file pins by their hash. Elsewhere the operator installs the package itself, which
 * chooses the binary of its platform.
 */
const PACKAGES = [`${PACKAGE}-linux-x64-gnu`, `${PACKAGE}-linux-x64-musl`, PACKAGE]
const FIRST_FAMILY = 'Noto Sans'
const TIME_LIMIT_MS = 30_000
const MEMORY_LIMIT_MIB = 512
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024
/** The process ends itself at its limit; this is for one that cannot. */
const GRACE_MS = 2_000
/** A package that could not be loaded is tried again then. */
const RETRY_MS = 60_000

const pdfWork: WorkKind = {
  name: 'PDF',
  max_running: (threads) => Math.max(1, Math.floor(threads / 2)),
  max_waiting: 20,
}

export class PdfCompiler {
  readonly #options: PdfCompilerOptions
  readonly #running = new Set<ChildProcess>()
  #engine: { readonly found: Promise<PdfEngine | null>; readonly until: number } | undefined
  #fonts: readonly FontFile[] | undefined
  #substitute: ((text: string) => Substituted) | undefined

  constructor(options: PdfCompilerOptions) {
    this.#options = options
  }

  /** Null where the package is not installed or does not run on this machine. */
  findEngine(): Promise<PdfEngine | null> {
    if (!this.#engine || Date.now() > this.#engine.until) {
      const found = this.#probe()
      this.#engine = { found, until: Number.POSITIVE_INFINITY }
      void found.then((engine) => {
        if (!engine) this.#engine = { found, until: Date.now() + RETRY_MS }
      })
    }
    return this.#engine.found
  }

  /** Read once: fonts do not change under a running process. */
  get fonts(): readonly FontFile[] {
    this.#fonts ??= this.#listFiles().map(describeFont)
    return this.#fonts
  }

  /** Families in the order in which a glyph is looked for: fonts of other scripts have digits and punctuation too. */
  get families(): readonly string[] {
    const families = [...new Set(this.fonts.map(({ family }) => family))]
    return [
      ...families.filter((family) => family === FIRST_FAMILY),
      ...families.filter((family) => family !== FIRST_FAMILY),
    ]
  }

  /** The text with the code points of characters that no font has, such as [U+738B], in their place. */
  substituteMissing(text: string): Substituted {
    this.#substitute ??= createSubstitution(this.#readFamilies())
    return this.#substitute(text)
  }

  /** What each family has in every one of its fonts: bold text is not printed with a regular font. */
  #readFamilies(): Coverage[] {
    const families = new Map<string, Coverage>()
    for (const [at, file] of this.#listFiles().entries()) {
      const coverage = readCoverage(fs.readFileSync(file))
      const { family } = this.fonts[at] as FontFile
      const known = families.get(family)
      if (known) known.intersect(coverage)
      else families.set(family, coverage)
    }
    return [...families.values()]
  }

  async compile({ source, inputs, created_at }: PdfSource, { caller, signal }: CompileOptions): Promise<Buffer> {
    const request = { kind: pdfWork, caller, signal, is_job: true }
    return this.#options.admission.run(request, async () => {
      const workspace = fs.mkdtempSync(path.join(os.tmpdir(), 'probity-pdf-'))
      try {
        const created_s = Math.floor(Date.parse(created_at) / 1000)
        return await this.#run({ source, inputs, workspace, created_s, fonts: this.#listFiles() }, signal)
      } finally {
        fs.rmSync(workspace, { recursive: true, force: true })
      }
    })
  }

  async close(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL')
  }

  #listFiles(): string[] {
    const { fonts_dir, extra_fonts_dir } = this.#options
    return listFontFiles(extra_fonts_dir ? [fonts_dir, extra_fonts_dir] : [fonts_dir])
  }

  async #probe(): Promise<PdfEngine | null> {
    try {
      const { version } = JSON.parse((await this.#run(undefined)).toString()) as { version: string }
      return { name: 'typst-ts-node-compiler', version }
    } catch {
      return null
    }
  }

  #run(document: CompileTask['document'], signal?: AbortSignal): Promise<Buffer> {
    const { script } = this.#options
    // The limits are those of documents: loading the package costs the same for each.
    const { time_limit_ms = TIME_LIMIT_MS, memory_limit_mib = MEMORY_LIMIT_MIB } = document ? this.#options : {}
    const task: CompileTask = {
      packages: this.#options.package === undefined ? PACKAGES : [this.#options.package],
      ...(document && { document }),
      time_limit_ms,
      memory_limit_mib,
    }
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const child = spawn(process.execPath, [script], { env: {}, stdio: 'pipe', windowsHide: true })
      this.#running.add(child)
      const output: Buffer[] = []
      let size = 0
      let errors = ''
      const kill = (): void => void child.kill('SIGKILL')
      const timer = setTimeout(kill, time_limit_ms + GRACE_MS)
      signal?.addEventListener('abort', kill, { once: true })
      child.stdout.on('data', (part: Buffer) => {
        output.push(part)
        size += part.length
        if (size > MAX_OUTPUT_BYTES) kill()
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (errors.length < 10_000) errors += text
      })
      const end = (settle: () => void): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', kill)
        this.#running.delete(child)
        settle()
      }
      child.once('error', (error) => end(() => reject(new PdfFailure('unavailable', error.message))))
      child.once('close', (code) =>
        end(() => {
          if (signal?.aborted) reject(signal.reason)
          else if (code === 0) resolve(Buffer.concat(output))
          else reject(toFailure(errors, task))
        }),
      )
      // A process that ends without reading its input is judged by its exit code.
      child.stdin.on('error', () => {}).end(JSON.stringify(task))
    })
  }
}

function toFailure(errors: string, { time_limit_ms, memory_limit_mib }: CompileTask): PdfFailure {
  const [line = '', ...rest] = errors.split('\n')
  const message = rest.join('\n').trim()
  switch (Number(line)) {
    case exitCodes.unavailable:
      return new PdfFailure('unavailable', message)
    case exitCodes.refused:
      return new PdfFailure('refused', describeRefusal(message))
    case exitCodes.memory:
      return new PdfFailure('memory', `Typesetting needs more than ${memory_limit_mib} MiB of memory.`)
    case exitCodes.time:
      return new PdfFailure('time', `Typesetting took longer than ${time_limit_ms / 1000} s.`)
    default:
      return new PdfFailure('crashed', 'The process that typesets ended unexpectedly.')
  }
}

const MISSING_GLYPH = /the text `\\?"(.+?)\\?"` could not be displayed/g

const DIAGNOSTIC = /message: "(.+?)", \w+:/

/** The compiler writes characters that draw nothing as `\\u{1}`. */
const decodeEscapes = (text: string): string =>
  text.replace(/\\+u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))

/** Names one character that no font has, so that the operator can add a font; more of them could give a name away. */
function describeRefusal(message: string): string {
  const missing = [...new Set([...message.matchAll(MISSING_GLYPH)].map(([, text]) => decodeEscapes(text as string)))]
  const [first] = missing
  if (first === undefined)
    return `The document cannot be typeset: ${(message.match(DIAGNOSTIC)?.[1] ?? message).slice(0, 500)}`
  const code = (first.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
  const others = missing.length === 1 ? '' : ` and ${missing.length - 1} more`
  return `No font has the character ${first} (U+${code})${others}. A font with it belongs into the folder PROBITY_FONTS_DIR.`
}
