/** What another version of a source contract means: payloads that it refuses, facts that change, and what reads them. */
import { Alert, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { formatCount } from '../format.ts'
import { Icon } from '../icons.tsx'
import { SearchLink } from '../search-link.tsx'
import { describeKeyword } from './violations.ts'

type Difference = Pick<Schemas['SourceContractDifference'], 'payloads_lost' | 'fact_changes' | 'readers_lost'>

const changeTexts: Readonly<Record<Difference['fact_changes'][number]['change'], string>> = {
  removed: 'is removed',
  type_changed: 'has another type',
  values_changed: 'allows other values',
  became_optional: 'is no longer required',
  moved: 'is read from another place',
  added: 'is new',
}
const folders: Readonly<Record<string, string>> = { matrix: '/matrices', rule: '/rules' }

export function ContractEffect({ of }: { readonly of: object }) {
  const { payloads_lost, fact_changes, readers_lost } = of as Difference
  const { checked, quarantined, lost, places } = payloads_lost
  return (
    <Stack gap="xs">
      {checked === 0 ? (
        <Text size="sm">No payload is stored yet, so the effect on payloads cannot be measured.</Text>
      ) : lost === 0 ? (
        <Text size="sm">
          The last {formatCount(checked, 'stored payload')} stay as they are: none that is admitted would be
          quarantined.
        </Text>
      ) : (
        <Alert
          color="orange"
          icon={<Icon name="warning" />}
          title={`${formatCount(lost, 'payload')} of the last ${checked.toLocaleString('en')} would be quarantined`}
          role="status"
        >
          <ul className="plain-list">
            {places.map(({ pointer, keyword, payloads }) => (
              <li key={`${pointer} ${keyword}`}>
                <Text size="sm">
                  <span className="mono">{pointer || 'the whole payload'}</span>: {describeKeyword({ keyword })},{' '}
                  {formatCount(payloads, 'payload')}
                </Text>
              </li>
            ))}
          </ul>
          {quarantined > lost && (
            <Text size="sm" mt={4}>
              The places also count {formatCount(quarantined - lost, 'payload')} in quarantine already.
            </Text>
          )}
        </Alert>
      )}
      {readers_lost.length > 0 && (
        <Alert color="red" icon={<Icon name="warning" />} title="Definitions in force would lose a fact" role="status">
          <ul className="plain-list">
            {readers_lost.map(({ family, key, version, input, fact, change }) => (
              <li key={`${family} ${key} ${input}`}>
                <Text size="sm">
                  {folders[family] === undefined ? (
                    key
                  ) : (
                    <SearchLink to={`${folders[family]}/${key}`} search={{ version }} inherit>
                      {key}
                    </SearchLink>
                  )}
                  , input {input}: the fact {fact} {changeTexts[change]}.
                </Text>
              </li>
            ))}
          </ul>
        </Alert>
      )}
      {fact_changes.length > 0 && (
        <Text size="sm">
          Facts: {fact_changes.map(({ fact, change }) => `${fact} ${changeTexts[change]}`).join('; ')}.
        </Text>
      )}
    </Stack>
  )
}
