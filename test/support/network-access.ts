/** What in a TypeScript source could open a connection: imports of the modules that can, and the globals that do. */
import { ts } from './source-parser.ts'

const networkModule = /^(node:)?(net|tls|https?|http2|dgram|undici)(\/.*)?$/
/** Without any of it there is nothing to parse for. */
const mention = /['"`](node:)?(net|tls|https?|http2|dgram|undici)\b|fetch|WebSocket|EventSource|XMLHttpRequest/
/** How a module can be loaded without an import of it. */
const loaders = ['require', 'getBuiltinModule']
const globals = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']

/** As much of a syntax node as is read here. */
interface Node {
  readonly text: string
  readonly parent: Node
  readonly name?: Node
  readonly propertyName?: Node
  readonly expression?: Node
  readonly argumentExpression?: Node
  readonly arguments?: readonly Node[]
  readonly moduleSpecifier?: Node
  readonly moduleReference?: Node
  readonly isTypeOnly?: boolean
  readonly importClause?: Node & { readonly namedBindings?: Node }
  readonly exportClause?: Node
  readonly elements?: readonly Node[]
}

/** Each as it is written, such as `import connect of node:net` or `fetch`. Imports of types alone leave nothing to load and are none. */
export function findNetworkAccess(text: string): string[] {
  if (!mention.test(text)) return []
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const found = new Set<string>()
  const visit = (node: Node): void => {
    const access = getImport(node) ?? getLoad(node) ?? getGlobal(node)
    if (access) found.add(access)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return [...found]
}

function getImport(node: Node): string | undefined {
  const isImport = ts.isImportDeclaration(node)
  if (!isImport && !ts.isExportDeclaration(node)) return
  const specifier = node.moduleSpecifier?.text
  if (specifier === undefined || !networkModule.test(specifier) || hasTypesOnly(node)) return
  const names = listValueNames(node)
  return `${isImport ? 'import' : 'export'} ${names.length > 0 ? `${names.join(', ')} of ` : ''}${specifier}`
}

const getElements = ({ importClause, exportClause }: Node): readonly Node[] =>
  (importClause?.namedBindings ?? exportClause)?.elements ?? []

/** What is taken of the module. Empty where it is taken as a whole. */
const listValueNames = (node: Node): string[] =>
  node.importClause?.name
    ? []
    : getElements(node)
        .filter(({ isTypeOnly }) => !isTypeOnly)
        .map(({ name, propertyName }) => (propertyName ?? name)?.text ?? '')

function hasTypesOnly(node: Node): boolean {
  if (node.isTypeOnly || node.importClause?.isTypeOnly) return true
  return !node.importClause?.name && getElements(node).length > 0 && listValueNames(node).length === 0
}

/** `import()`, `require()`, `import x = require()` and what else loads a module by its name. */
function getLoad(node: Node): string | undefined {
  if (ts.isExternalModuleReference(node)) return toLoad('require', node.expression)
  if (!ts.isCallExpression(node)) return
  const { expression: callee, arguments: given = [] } = node
  if (!callee) return
  if ((callee as unknown as { kind: number }).kind === ts.SyntaxKind.ImportKeyword) return toLoad('import()', given[0])
  const name = ts.isPropertyAccessExpression(callee) ? callee.name?.text : callee.text
  // A call of the result of a call, such as createRequire(url)('net').
  if (ts.isCallExpression(callee)) return toLoad('require', given[0])
  return name !== undefined && loaders.includes(name) ? toLoad(name, given[0]) : undefined
}

const toLoad = (how: string, name: Node | undefined): string | undefined =>
  name && ts.isStringLiteralLike(name) && networkModule.test(name.text) ? `${how} ${name.text}` : undefined

/** A global by its name, or as a member of the global object. Members of other objects and names in a type are something else. */
function getGlobal(node: Node): string | undefined {
  if (ts.isElementAccessExpression(node)) {
    const { expression, argumentExpression: key } = node
    const isRead = isGlobalObject(expression) && key && ts.isStringLiteralLike(key) && globals.includes(key.text)
    return isRead ? key.text : undefined
  }
  if (!ts.isIdentifier(node) || !globals.includes(node.text)) return
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) {
    return isGlobalObject(parent.expression) ? node.text : undefined
  }
  // `const { fetch } = globalThis` takes it; `{ fetch: … }` and `get fetch()` name a member.
  if (ts.isBindingElement(parent)) return node.text
  const isMemberName =
    parent.name === node && (ts.isPropertyAssignment(parent) || ts.isClassElement(parent) || ts.isTypeElement(parent))
  return isMemberName ? undefined : node.text
}

const isGlobalObject = (node: Node | undefined): boolean =>
  node !== undefined && ts.isIdentifier(node) && ['globalThis', 'global', 'self', 'window'].includes(node.text)
