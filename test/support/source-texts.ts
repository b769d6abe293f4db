/**
 * The parts of the source that people read: file names, names, comments, styles and every text with a blank, each with its line.
 * The language test compares them with the list of denied words.
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
  | 'literal type'
  | 'style'
  | 'comment'
  | 'test title'
  | 'log line'
  | 'API text'
  | 'error text'
  | 'console text'
  | 'prose'
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

const names = new Set(['Identifier', 'PrivateIdentifier', 'JSXIdentifier'])
const testFunctions = new Set(['test', 'it', 'describe'])
/** Members whose text a caller of the API, an operator or a person at the command line reads, however short it is. */
const apiTexts = new Set([
  'summary',
  'description',
  'title',
  'detail',
  'help',
  'message',
  'hint',
  'reason',
  'about',
  'label',
])
const logMethods = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
const errorClass = /(Error|Fault|Problem|Invalid\w*)$/
/** Functions that refuse: their texts become the detail of a problem. */
const refusals = new Set(['fail', 'assert', 'reject', 'refuse'])

/** Texts of one TypeScript or JavaScript file. */
export function readSourceTexts(file: string, code: string): SourceText[] {
  const { program, comments, errors } = parseSync(file, code)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const lineOf = lineCounter(code)
  const texts: SourceText[] = []
  const add = (kind: TextKind, start: number, text: string) => texts.push({ file, line: lineOf(start), kind, text })
  for (const { start, value } of comments) add('comment', start, value)
  const isConsole = file.startsWith('console/')
  /** What the surrounding expression makes of a text. */
  const kinds = new Map<SyntaxNode, TextKind | null>()
  const visit = (node: SyntaxNode): void => {
    if (names.has(node.type)) add('identifier', node.start, String(node['name']))
    if (node.type === 'JSXText') add('console text', node.start, String(node['value']))
    for (const [text, kind] of classifyTexts(node)) if (!kinds.has(text)) kinds.set(text, kind)
    const text = literalText(node)
    if (text !== undefined) {
      const given = kinds.get(node)
      const kind = given === undefined || (given === 'API text' && isConsole) ? readKind(isConsole, text) : given
      if (kind) add(kind, node.start, text)
    }
    // The parts of a text are read with it; what is inserted into it is not.
    for (const child of text === undefined ? children(node) : insertedValues(node)) visit(child)
  }
  visit(program as unknown as SyntaxNode)
  return texts
}

/** Every text of the console may be shown; elsewhere a text with a blank is written for people. */
function readKind(isConsole: boolean, text: string): TextKind | null {
  if (isConsole) return 'console text'
  return /\s/.test(text.trim()) ? 'prose' : null
}

/** The texts directly below a node that it gives a meaning; null: not for people. */
function classifyTexts(node: SyntaxNode): [SyntaxNode, TextKind | null][] {
  const key = node['key']
  const found: [SyntaxNode, TextKind | null][] = []
  if (isNode(key) && !node['computed']) {
    found.push([key, 'identifier'])
    const name = String(key['name'] ?? key['value'])
    if (node.type === 'Property' && apiTexts.has(name)) found.push([node['value'] as SyntaxNode, 'API text'])
  }
  if (node.type === 'TSLiteralType') found.push([node['literal'] as SyntaxNode, 'literal type'])
  // Addresses of modules are file names, which are looked at by themselves.
  if (/^(Import|Export)/.test(node.type) && isNode(node['source'])) found.push([node['source'], null])
  if (node.type === 'CallExpression' || node.type === 'NewExpression') {
    const texts = (node['arguments'] as SyntaxNode[]).filter((argument) => literalText(argument) !== undefined)
    const kind = calledKind(node['callee'] as SyntaxNode)
    if (kind === 'error text') found.push(...texts.map((text): [SyntaxNode, TextKind] => [text, kind]))
    else if (kind && texts[0]) found.push([texts[0], kind])
  }
  return found
}

function insertedValues(node: SyntaxNode): SyntaxNode[] {
  if (node.type === 'TemplateLiteral') return node['expressions'] as SyntaxNode[]
  if (node.type !== 'BinaryExpression') return []
  return [node['left'], node['right']].flatMap((part) => insertedValues(part as SyntaxNode))
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

/** `test(…)`, `test.each(…)(…)`, `log.warn(…)`, `stdout.write(…)`, `new Error(…)`, `fail(…)`. */
function calledKind(callee: SyntaxNode): TextKind | undefined {
  if (callee.type === 'CallExpression') return calledKind(callee['callee'] as SyntaxNode)
  if (callee.type === 'Identifier') {
    const name = String(callee['name'])
    if (testFunctions.has(name)) return 'test title'
    return refusals.has(name) || errorClass.test(name) ? 'error text' : undefined
  }
  if (callee.type !== 'MemberExpression') return undefined
  const object = callee['object'] as SyntaxNode
  const property = callee['property'] as SyntaxNode
  if (object.type === 'Identifier' && testFunctions.has(String(object['name']))) return 'test title'
  const name = String(property['name'])
  return logMethods.has(name) || /^(write|log)$/.test(name) ? 'log line' : undefined
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
  const isStyle = file.endsWith('.css')
  const isPage =
    /\.(md|ya?ml|ini|html|sh|txt)$/.test(file) || (migration !== undefined && migration > LAST_LANDED_MIGRATION)
  if (!isSource && !isPage && !isStyle) return []
  const name: SourceText = { file, line: 1, kind: 'file name', text: file }
  const content = fs.readFileSync(path.join(projectRoot, file), 'utf8')
  // Parsing takes long: only files with a denied word in some form are parsed.
  if (!hasDeniedText(content)) return [name]
  return [
    name,
    ...(isSource ? readSourceTexts(file, content) : readLines(file, content, isStyle ? 'style' : 'document')),
  ]
}

function readLines(file: string, content: string, kind: TextKind): SourceText[] {
  return content.split('\n').map((text, index) => ({ file, line: index + 1, kind, text }))
}
