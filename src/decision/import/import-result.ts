/**
 * The result of an import of foreign decisions: the tables with an exact equivalent, and a finding with its place for everything
 * else.
 */
import type { Finding, RuleDefinition } from '../model.ts'

export interface ImportedRule {
  /** The name in the file. */
  readonly name: string
  /** Its place in the file. */
  readonly place: string
  readonly definition: RuleDefinition
  /** Inputs that another node of the file provides. */
  readonly reads: readonly ImportedLink[]
  /** It applies only when a switch of the file selects one of these. */
  readonly only_if: readonly ImportedBranch[]
}

/** `rule` is the place of the rule that provides the value; null when that node was left out. */
export interface ImportedLink {
  readonly input: string
  readonly rule: string | null
  readonly node: string
  readonly output: string
}
export interface ImportedBranch {
  readonly rule: string | null
  readonly node: string
  readonly output: string
  readonly value: string
}

/** The pointer of a finding is a place in the file; an error means that the construct there was left out. */
export interface ImportResult {
  readonly definitions: readonly ImportedRule[]
  readonly findings: readonly Finding[]
}

export const MAX_FILE_CHARS = 4 * 1024 * 1024
export const MAX_TABLES = 500
const MAX_FINDINGS = 500
const MAX_EXCERPT_CHARS = 120

/** Findings in file order, with a limit for hostile files. */
export class ImportFindings {
  private readonly kept: Finding[] = []
  private omitted = 0

  refuse(code: string, pointer: string, message: string): void {
    this.add({ code, pointer, message, severity: 'error' })
  }

  warn(code: string, pointer: string, message: string): void {
    this.add({ code, pointer, message, severity: 'warning' })
  }

  all(): readonly Finding[] {
    if (this.omitted === 0) return this.kept
    const message = `There are ${this.omitted} more findings than are listed here.`
    return [...this.kept, { code: 'findings_omitted', pointer: '', message, severity: 'error' }]
  }

  private add(finding: Finding): void {
    if (this.kept.length < MAX_FINDINGS) this.kept.push(finding)
    else this.omitted += 1
  }
}

/** Thrown for a construct without exact equivalent; caught once per table. */
export class UnsupportedConstruct extends Error {
  readonly code: string
  readonly place: string
  constructor(code: string, place: string, message: string) {
    super(message)
    this.name = 'UnsupportedConstruct'
    this.code = code
    this.place = place
  }
}

export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > MAX_EXCERPT_CHARS ? `${line.slice(0, MAX_EXCERPT_CHARS)}…` : line
}

/** Allocates valid names; a name in the file that is not valid is converted and kept as title. */
export class NameAllocator {
  private readonly taken = new Set<string>()

  of(title: string, fallback: string): string {
    const word = title
      .normalize('NFKD')
      .replace(/[^A-Za-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 50)
    const base = /^[A-Za-z]/.test(word) ? word : [fallback, word].filter(Boolean).join('_')
    let name = base
    for (let n = 2; this.taken.has(name); n++) name = `${base}_${n}`
    this.taken.add(name)
    return name
  }
}
