/** The version in force with its reason, scheduled activations, owner and review date. */
import { Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CopyValue } from '../copy-value.tsx'
import { RelativeTime } from '../date-time.tsx'
import {
  type DefinitionKind,
  type DefinitionView,
  definitionQuery,
  getActiveVersion,
} from '../decision/definition-kind.ts'
import { SearchLink } from '../search-link.tsx'
import { Facts, Section } from '../section.tsx'
import { formatVersionName } from '../version-names.ts'
import { WhyInForce } from '../why-in-force.tsx'
import { usePin } from './pins.ts'

interface InForceProps {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly of: DefinitionView
}

export function InForce({ kind, definition_key, of }: InForceProps) {
  const { active, pending } = of
  const summary = of.versions.find(({ version }) => version === active?.version)
  const { own, followed } = usePin(kind, definition_key, of)
  return (
    <Section title="In force">
      {active === null ? (
        <Text size="sm">
          No version. <OtherDefinitionInForce kind={kind} definition_key={definition_key} />
        </Text>
      ) : (
        <Facts
          of={[
            [
              'Version',
              <b key="version">{formatVersionName({ version: active.version, label: summary?.label ?? null })}</b>,
            ],
            [
              'Reason',
              <WhyInForce
                key="why"
                word={kind.word}
                active={active}
                own={own}
                followed={
                  followed !== undefined &&
                  followed !== active.version && (
                    <OperatorVersion
                      place={`${kind.basePath}/${definition_key}`}
                      pinned={active.version}
                      followed={followed}
                    />
                  )
                }
              />,
            ],
            pending.length > 0 && [
              'Scheduled',
              <Stack key="pending" gap={2}>
                {pending.map(({ version, effective_from, reason }) => (
                  <span key={effective_from}>
                    version {version} <RelativeTime at={effective_from} />: “{reason}”
                  </span>
                ))}
              </Stack>,
            ],
            ['Content hash', <CopyValue key="hash" value={active.content_hash} name="the content hash" />],
            ['Owner', of.owner],
            of.review_due_at !== null && ['Review due', <RelativeTime key="review" at={of.review_due_at} />],
          ]}
        />
      )}
    </Section>
  )
}

/** The definition of the other owner, if it is in force under the same key. */
function OtherDefinitionInForce({ kind, definition_key }: Pick<InForceProps, 'kind' | 'definition_key'>) {
  const { data } = useQuery({ ...definitionQuery(kind, definition_key), throwOnError: false })
  const decides = data && getActiveVersion(data)
  if (!decides) return null
  return (
    <>
      {decides.origin === 'shared' ? 'The shared' : 'This tenant’s'} {kind.word} with the same key is in force:{' '}
      <SearchLink to={`${kind.basePath}/${definition_key}`} search={{ origin: decides.origin }} inherit>
        version {decides.version}
      </SearchLink>
      .
    </>
  )
}

interface OperatorVersionProps {
  readonly place: string
  readonly pinned: number
  readonly followed: number | null
}

function OperatorVersion({ place, pinned, followed }: OperatorVersionProps) {
  if (followed === null) return <Text size="sm">The operator has no version in force.</Text>
  return (
    <Text size="sm">
      The operator has version {followed} in force:{' '}
      <SearchLink to={`${place}/diff`} search={{ from: pinned, to: followed, origin: 'shared' }} inherit>
        compare
      </SearchLink>
    </Text>
  )
}
