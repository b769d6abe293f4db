/** Two versions of a provider compared. */
import { providerKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionDifferencePage } from '#console/ui/definition/difference-page.tsx'

export default function ProviderDifferencePage() {
  return <DefinitionDifferencePage kind={providerKind} />
}
