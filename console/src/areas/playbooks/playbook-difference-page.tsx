/** Two versions of a playbook compared. */
import { playbookKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionDifferencePage } from '#console/ui/definition/difference-page.tsx'

export default function PlaybookDifferencePage() {
  return <DefinitionDifferencePage kind={playbookKind} />
}
