/** The draft of a risk matrix. */
import { matrixKind } from '../../ui/decision/definition-kind.ts'
import { DraftPage } from '../../ui/definition/draft-page.tsx'

export default function MatrixDraftPage() {
  return <DraftPage kind={matrixKind} />
}
