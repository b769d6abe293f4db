/**
 * The canonical form that a type declares in its fields: sets are sorted without duplicates, and white space inside texts is
 * collapsed. Entries that differ only in this have the same canonical text and hash.
 */
import { canonicalJson } from '#kernel/canonical-json.ts'
import { isObject, parsePointer, setMember } from '../content/json-pointer.ts'
import type { FieldDefinition } from './type-definition.ts'

/** The rule for a value, and for the values below it. */
interface FormRule {
  is_set: boolean
  collapses: boolean
  readonly members: Map<string, FormRule>
}

const createFormRule = (): FormRule => ({ is_set: false, collapses: false, members: new Map() })

/** A function that returns the entry in canonical form, the same object when nothing changes; null when the type declares no form. */
export function compileCanonicalForm(
  fields: Readonly<Record<string, FieldDefinition>>,
): ((entry: Record<string, unknown>) => Record<string, unknown>) | null {
  const root = createFormRule()
  for (const [pointer, { set, whitespace }] of Object.entries(fields)) {
    if (!set && whitespace !== 'collapse') continue
    let form = root
    for (const step of parsePointer(pointer)) {
      const next: FormRule = form.members.get(step) ?? createFormRule()
      form.members.set(step, next)
      form = next
    }
    form.is_set ||= set === true
    form.collapses ||= whitespace === 'collapse'
  }
  return root.members.size === 0 ? null : (entry) => applyForm(entry, root) as Record<string, unknown>
}

function applyForm(value: unknown, form: FormRule): unknown {
  if (typeof value === 'string') return form.collapses ? collapseWhitespace(value) : value
  if (Array.isArray(value)) return applyToArray(value, form)
  return isObject(value) ? applyToObject(value, form) : value
}

/** Line breaks, tabs and no-break spaces are white space too. */
export const collapseWhitespace = (text: string): string => text.replace(/\s+/g, ' ').trim()

function applyToObject(value: Record<string, unknown>, form: FormRule): Record<string, unknown> {
  let copy: Record<string, unknown> | null = null
  for (const [name, below] of form.members) {
    if (!Object.hasOwn(value, name)) continue
    const after = applyForm(value[name], below)
    if (Object.is(after, value[name])) continue
    copy ??= { ...value }
    setMember(copy, name, after)
  }
  return copy ?? value
}

function applyToArray(value: readonly unknown[], form: FormRule): readonly unknown[] {
  const each = form.members.get('*')
  let elements = value
  if (each) {
    const applied = value.map((element) => applyForm(element, each))
    if (applied.some((element, index) => !Object.is(element, value[index]))) elements = applied
  }
  return form.is_set && elements.length > 1 ? sortSet(elements) : elements
}

/** By canonical text, compared by UTF-16 code units as RFC 8785 compares names. */
function sortSet(elements: readonly unknown[]): readonly unknown[] {
  let texts: string[]
  try {
    texts = elements.map(canonicalJson)
  } catch (error) {
    // A value without canonical text cannot be stored: validation reports it.
    if (error instanceof TypeError) return elements
    throw error
  }
  if (texts.every((text, index) => index === 0 || (texts[index - 1] as string) < text)) return elements
  const byText = new Map(texts.map((text, index) => [text, elements[index]]))
  return [...byText.keys()].sort().map((text) => byText.get(text))
}
