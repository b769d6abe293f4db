/** The playbook of an investigation that an alert opens, as the list `investigation-triggers` chooses it. Pure. */

interface Trigger {
  readonly entry: Readonly<Record<string, unknown>>
}

/** The most specific entry, as the service chooses it: by rule first, then by type of subject. Null where there is none. */
export function findTriggerPlaybook(
  triggers: readonly Trigger[],
  { rule_code, subject_type }: { readonly rule_code: string | null; readonly subject_type: string },
): string | null {
  const find = (rule: string | null, type: string) =>
    triggers.find(({ entry }) => entry['alert_rule'] === rule && entry['subject_type'] === type)
  const found = find(rule_code, subject_type) ?? find(rule_code, '*') ?? find('*', subject_type) ?? find('*', '*')
  return found === undefined ? null : String(found.entry['playbook'])
}
