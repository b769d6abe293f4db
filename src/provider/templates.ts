/** Templates: text with {input.x} and {credential.x} in it, and nothing else. Values are inserted, never read as a template. */

export interface Placeholder {
  readonly source: 'input' | 'credential'
  readonly name: string
}
export type TemplatePart = string | Placeholder
export type Template = readonly TemplatePart[]

const PLACEHOLDER = /\{(input|credential)\.([a-z][a-z0-9_]{0,59})\}/g

/** Null where a brace belongs to no placeholder. */
export function parseTemplate(text: string): Template | null {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of text.matchAll(PLACEHOLDER)) {
    parts.push(text.slice(end, match.index), { source: match[1] as Placeholder['source'], name: match[2] as string })
    end = match.index + match[0].length
  }
  parts.push(text.slice(end))
  const isWellFormed = parts.every((part) => typeof part !== 'string' || !/[{}]/.test(part))
  return isWellFormed ? parts.filter((part) => part !== '') : null
}

export const listPlaceholders = (template: Template): readonly Placeholder[] =>
  template.filter((part) => typeof part !== 'string')

/** The value of a template that consists of one placeholder keeps its type in a JSON body. */
export function getOnlyPlaceholder(template: Template): Placeholder | undefined {
  const [part] = template
  return template.length === 1 && part !== undefined && typeof part !== 'string' ? part : undefined
}
