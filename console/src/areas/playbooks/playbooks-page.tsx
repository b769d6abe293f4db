/** All playbooks. */
import { playbookKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionsPage } from '#console/ui/definition/definitions-page.tsx'

export default function PlaybooksPage() {
  return (
    <DefinitionsPage
      kind={playbookKind}
      about="What an investigation gathers, by when, and how it may end. An open investigation keeps the version it began with."
    />
  )
}
