/**
 * The parts of the source that people read: file names, identifiers, comments, test titles, log lines and texts of the console,
 * each with its line. The language test compares them with the list of denied words.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parseSync } from 'vite'
import { projectRoot } from './database.ts'
import { hasDeniedText } from './find-denied.ts'
import { LAST_LANDED_MIGRATION } from './landed.ts'

export type TextKind =
  | 'file name'
  | 'identifier'
  | 'comment'
  | 'test title'
  | 'log line'
  | 'API text'
  | 'console text'
  | 'document'

export interface SourceText {
  readonly file: string
  readonly line: number
  readonly kind: TextKind
  readonly text: string
}

interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly [member: string]: unknown
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string'

const testFunctions = new Set(['test', 'it', 'describe'])
/** Members whose text a caller of the API reads. */
const apiTexts = new Set(['summary', 'description', 'title', 'detail'])
const logMethods = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])

/** Texts of one TypeScript or JavaScript file. */
export function readSourceTexts(file: string, code: string): SourceText[] {
  const { program, comments, errors } = parseSync(file, code)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const lineOf = lineCounter(code)
  const texts: SourceText[] = []
  const add = (kind: TextKind, start: number, text: string) => texts.push({ file, line: lineOf(start), kind, text })
  for (const { start, value } of comments) add('comment', start, value)
  const isConsole = file.startsWith('console/')
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Identifier') add('identifier', node.start, String(node['name']))
    if (node.type === 'Property' && apiTexts.has(String((node['key'] as SyntaxNode)['name']))) {
      const value = node['value'] as SyntaxNode
      const text = isConsole ? undefined : literalText(value)
      if (text !== undefined) add('API text', value.start, text)
    }
    if (node.type === 'CallExpression') {
      const kind = calledKind(node['callee'] as SyntaxNode)
      const first = (node['arguments'] as SyntaxNode[]).find((argument) => literalText(argument) !== undefined)
      if (kind && first) add(kind, first.start, literalText(first) as string)
    }
    // Addresses of modules are file names, which are looked at by themselves.
    if (isConsole && !/^(Import|Export)/.test(node.type)) {
      for (const child of children(node)) {
        const text = child.type === 'JSXText' ? String(child['value']) : literalText(child)
        if (text !== undefined) add('console text', child.start, text)
      }
    }
    for (const child of children(node)) visit(child)
  }
  visit(program as unknown as SyntaxNode)
  return texts
}

function children(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node)
    .flatMap((member) => (Array.isArray(member) ? member : [member]))
    .filter(isNode)
}

/** The characters of a string, a template or a concatenation; inserted values are left out. */
function literalText(node: SyntaxNode): string | undefined {
  if (node.type === 'BinaryExpression' && node['operator'] === '+') {
    const parts = [node['left'], node['right']].map((part) => literalText(part as SyntaxNode))
    return parts.some((part) => part === undefined) ? undefined : parts.join('')
  }
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (node.type !== 'TemplateLiteral') return undefined
  const quasis = node['quasis'] as { value: { raw: string } }[]
  return quasis.map(({ value }) => value.raw).join(' … ')
}

/** `test(…)`, `test.each(…)(…)`, `log.warn(…)`. */
function calledKind(callee: SyntaxNode): TextKind | undefined {
  if (callee.type === 'CallExpression') return calledKind(callee['callee'] as SyntaxNode)
  if (callee.type === 'Identifier') return testFunctions.has(String(callee['name'])) ? 'test title' : undefined
  if (callee.type !== 'MemberExpression') return undefined
  const object = callee['object'] as SyntaxNode
  const property = callee['property'] as SyntaxNode
  if (object.type === 'Identifier' && testFunctions.has(String(object['name']))) return 'test title'
  return logMethods.has(String(property['name'])) ? 'log line' : undefined
}

function lineCounter(code: string): (offset: number) => number {
  const ends = [...code.matchAll(/\n/g)].map(({ index }) => index)
  return (offset) => {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] as number) < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}

const folders = ['src', 'test', 'console', 'client', 'bench', 'scripts', 'bin', 'docs', 'deploy', 'db']
/** Built from the contract, not written. */
const generated = new Set(['client/types.ts', 'docs/endpoints.md', 'docs/schema.sql', 'docs/proofs/vectors.json'])
/** They hold denied words as examples. */
const lists = new Set(['test/support/denied-words.ts', 'test/language.test.ts'])

/** Texts of all sources, documents and new migrations whose file has a denied word anywhere. */
export function findProjectTexts(): SourceText[] {
  const pages = fs.readdirSync(projectRoot).filter((name) => name.endsWith('.md'))
  const files = [...pages, ...folders.flatMap(listFiles)].filter((file) => !generated.has(file) && !lists.has(file))
  return files.flatMap(readTexts)
}

function listFiles(folder: string): string[] {
  return fs
    .readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.split(path.sep).join('/')}`)
    .filter((file) => !/\/(node_modules|dist)\//.test(file))
}

function readTexts(file: string): SourceText[] {
  const migration = /^db\/migrations\/(\d+)_/.exec(file)?.[1]
  const isSource = /\.(ts|tsx|mjs)$/.test(file)
  // Landed migrations never change; what comes after the last of them is checked.
  const isPage = /\.(md|ya?ml|ini)$/.test(file) || (migration !== undefined && migration > LAST_LANDED_MIGRATION)
  if (!isSource && !isPage) return []
  const name: SourceText = { file, line: 1, kind: 'file name', text: file }
  const content = fs.readFileSync(path.join(projectRoot, file), 'utf8')
  // Parsing takes long: only files with a denied word in some form are parsed.
  if (!hasDeniedText(content)) return [name]
  return [name, ...(isSource ? readSourceTexts(file, content) : readLines(file, content))]
}

function readLines(file: string, content: string): SourceText[] {
  return content.split('\n').map((text, index) => ({ file, line: index + 1, kind: 'document', text }))
}
