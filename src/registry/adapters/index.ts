/** Every adapter the registry ships, by key, and the types their entries fit. */
import type { Adapter } from '../adapter.ts'
import { country } from './country.ts'
import { countryScore } from './country-score.ts'
import { countryScores } from './country-scores.ts'
import { csv, tsv } from './csv.ts'
import { currency } from './currency.ts'
import type { EntryType } from './entry-type.ts'
import { euCsv } from './eu-csv.ts'
import { euXml } from './eu-xml.ts'
import { fatfLists } from './fatf.ts'
import { iso3166 } from './iso-3166.ts'
import { iso4217 } from './iso-4217.ts'
import { json, ndjson } from './json.ts'
import { jurisdictionList } from './jurisdiction-list.ts'
import { ofacConsolidatedAdvancedXml, ofacSdnAdvancedXml } from './ofac-advanced.ts'
import { ofacConsolidatedCsv, ofacSdnCsv } from './ofac-csv.ts'
import { ofacConsolidatedXml, ofacSdnXml } from './ofac-xml.ts'
import { openSanctionsFtm } from './opensanctions.ts'
import { sanctionedParty } from './sanctioned-party.ts'
import { ukHmtCsv } from './uk-hmt-csv.ts'
import { unXml } from './un-xml.ts'
import { usBisDpl } from './us-bis-dpl.ts'
import { usCslCsv, usCslJson } from './us-csl.ts'
import { xlsx } from './xlsx.ts'

const generic = [csv, tsv, json, ndjson, xlsx]
const sanctions = [
  ofacSdnCsv,
  ofacSdnXml,
  ofacConsolidatedCsv,
  ofacConsolidatedXml,
  unXml,
  ukHmtCsv,
  euCsv,
  euXml,
  usBisDpl,
  ofacSdnAdvancedXml,
  ofacConsolidatedAdvancedXml,
  usCslCsv,
  usCslJson,
  openSanctionsFtm,
]
const reference = [fatfLists, iso3166, iso4217, countryScores]

export const adapters: ReadonlyMap<string, Adapter> = new Map(
  [...generic, ...sanctions, ...reference].map((adapter) => [adapter.key, adapter]),
)

/** By type_key; every `target_type` of an adapter is one of these. */
export const entryTypes: ReadonlyMap<string, EntryType> = new Map(
  [sanctionedParty, jurisdictionList, country, currency, countryScore].map((type) => [type.type_key, type]),
)
