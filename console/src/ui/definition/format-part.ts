/** Names of the parts of a definition for comparisons. Pure. */
import { toSentence } from '../format.ts'

interface DiffItem {
  readonly key: string
  readonly before: object | null
  readonly after: object | null
}

const kinds: Readonly<Record<string, string>> = {
  settings: 'Settings',
  input: 'Input',
  factor: 'Factor',
  trigger: 'Trigger',
  table: 'Table',
  section: 'Section',
  capability: 'Capability',
  fixture: 'Fixture',
  record: 'Schema of a record',
  fact: 'Fact',
  check: 'Check',
  clock: 'Clock',
  step: 'Step',
  outcome: 'Outcome',
  example: 'Example',
  manifest: 'Manifest:',
  file: 'File',
  signature: 'Signature',
  package: 'Package',
  counter_example: 'Counter-example',
}
/** Parts that a definition has once. */
const SINGLE_PARTS = ['Settings', 'Table', 'Schema of a record']

/** `factor|residence` with its title → `Factor “Country of residence”`. */
export function formatPart({ key, before, after }: DiffItem): string {
  const whole = (after ?? before ?? {}) as { part?: string; name?: string; title?: string }
  const [first = '', second = ''] = key.split('|')
  const part = kinds[whole.part ?? first] ?? toSentence(first)
  if (SINGLE_PARTS.includes(part)) return part
  return `${part} “${whole.title ?? whole.name ?? second}”`
}
