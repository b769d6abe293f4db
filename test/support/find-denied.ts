/** Finds denied words in one text. Identifiers and file names are split into their words first. */
import { deniedWords } from './denied-words.ts'

const patterns = deniedWords.map(({ word, allowed = [] }) => ({
  pattern: new RegExp(`\\b(?:${word})\\b`, 'g'),
  allowed,
}))

const names = new Set(['identifier', 'file name', 'literal type', 'style'])

const anyForm = new RegExp(deniedWords.map(({ word }) => word.replaceAll(' ', '\\s+')).join('|'), 'i')

/** Whether a text may hold a denied word, also as a part of a name or of another word. */
export const hasDeniedText = (text: string): boolean => anyForm.test(text)

/** The denied words of a text, each as it is written there. */
export function findDenied({ kind, text }: { readonly kind: string; readonly text: string }): string[] {
  const words = (names.has(kind) ? splitName(text) : text.replaceAll(/\s+/g, ' ')).toLowerCase()
  return patterns.flatMap(({ pattern, allowed }) => {
    const rest = allowed.reduce((left, phrase) => left.replaceAll(phrase, ' '), words)
    return rest.match(pattern) ?? []
  })
}

/** `readTenantStatus`, `read_tenant_status` and `read-tenant-status` → `read Tenant Status`. */
function splitName(name: string): string {
  return name.replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4').replaceAll(/[_\-./$#]+/g, ' ')
}
