/** The credentials that keep work from starting, each with what it blocks and a link to fix it. */
import { Stack, Text } from '@mantine/core'
import type { ProbityProblem } from '@probity/client'
import { usePermission } from '#console/session/queries.ts'
import { SearchLink } from '../search-link.tsx'
import { type CredentialGap, gapSteps, gapTexts, getMissingCredentials, toGapTarget } from './provider-texts.ts'

export function MissingCredentials({ problem }: { readonly problem: ProbityProblem | null }) {
  const missing = getMissingCredentials(problem)
  return missing.length === 0 ? null : <GapList gaps={missing} />
}

function GapList({ gaps }: { readonly gaps: readonly CredentialGap[] }) {
  const may = usePermission()
  return (
    <Stack gap="xs" mt="xs">
      <Stack gap={6} component="ul" className="plain-list" aria-label="Missing credentials">
        {gaps.map((gap) => (
          <li key={`${gap.provider_key} ${gap.environment}`}>
            <Text size="sm" component="div">
              <b>{gap.provider_key}</b>
              {gap.environment === 'test' && ' (test system)'}: {gapTexts[gap.reason]}{' '}
              {may('listProviderCredentials') && <GapLink gap={gap} />}
            </Text>
          </li>
        ))}
      </Stack>
      {!may('createProviderCredential') && (
        <Text size="sm">An administrator of your tenant can add or renew credentials.</Text>
      )}
    </Stack>
  )
}

export function GapLink({ gap }: { readonly gap: CredentialGap }) {
  const may = usePermission()
  const { to, search } = toGapTarget(gap)
  const canCreate = may('createProviderCredential')
  // Only those who may create one find a form at the target.
  if (gap.credential_id === null && !canCreate) return <>Ask an administrator to add one.</>
  return (
    <SearchLink to={to} search={search} inherit fw={600}>
      {canCreate ? gapSteps[gap.reason] : 'Open the credential'}
      <span className="sr-only">: {gap.provider_key}</span>
    </SearchLink>
  )
}
