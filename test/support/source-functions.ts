/** The functions of a TypeScript source with their length and number of parameters, found by the compiler's own parser. */
import { ts } from './source-parser.ts'

/** As much of a syntax node as is read here. */
interface Node {
  readonly name?: Node
  readonly parent?: Node
  readonly body?: Node
  readonly parameters?: readonly Node[]
  getStart(): number
  getEnd(): number
  getText(): string
}

export interface SourceFunction {
  readonly file: string
  readonly name: string
  readonly lines: number
  readonly parameters: number
}

const getName = ({ name, parent }: Node): string => (name ?? parent?.name)?.getText() ?? '(anonymous)'

export function listFunctions(file: string, text: string): SourceFunction[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line
  const found: SourceFunction[] = []
  const visit = (node: Node): void => {
    if (ts.isFunctionLike(node) && node.body) {
      const { parameters = [] } = node
      const lines = lineAt(node.getEnd()) - lineAt(node.getStart()) + 1
      found.push({ file, name: getName(node), lines, parameters: parameters.length })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}
