/** One risk matrix. */
import { matrixKind } from '../../ui/decision/definition-kind.ts'
import { DefinitionPage } from '../../ui/definition/definition-page.tsx'

export default function MatrixPage() {
  return <DefinitionPage kind={matrixKind} />
}
