/** All rules, and the import of decision tables from other tools. */

import { usePermission } from '#console/session/queries.ts'
import { ruleKind } from '#console/ui/decision/definition-kind.ts'
import { DefinitionsPage } from '#console/ui/definition/definitions-page.tsx'
import { ButtonLink } from '#console/ui/link.tsx'

export default function RulesPage() {
  const may = usePermission()
  return (
    <DefinitionsPage
      kind={ruleKind}
      about="Decision tables that return hit or no hit, and the actions a hit requires."
      actions={
        may('importRules') && (
          <ButtonLink to="/rules/import" variant="default">
            Import DMN or GoRules
          </ButtonLink>
        )
      }
    />
  )
}
