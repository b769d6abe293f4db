/** All risk matrices. */
import { matrixKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionsPage } from '#console/ui/definition/definitions-page.tsx'

export default function MatricesPage() {
  return (
    <DefinitionsPage
      kind={matrixKind}
      about="How subjects are rated: weighted factors, a score, bands, and triggers that set a minimum band. Every value comes from a list or from the matrix."
    />
  )
}
