/** All rules, and taking over decision tables from other tools. */

import { useMay } from '../../session/queries.ts'
import { ruleKind } from '../../ui/decision/kind.ts'
import { DefinitionsPage } from '../../ui/definition/definitions-page.tsx'
import { ButtonLink } from '../../ui/link.tsx'

export default function RulesPage() {
  const may = useMay()
  return (
    <DefinitionsPage
      kind={ruleKind}
      about="What is looked for: decision tables that say hit or no hit, with what a hit requires."
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
