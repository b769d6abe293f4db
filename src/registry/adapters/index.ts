/** Every adapter the registry ships, by key, and the types their entries fit. */
import type { Adapter } from '../adapter.ts'
import { country } from './country.ts'
import { countryScore } from './country-score.ts'
import { countryScores } from './country-scores.ts'
import { csv, tsv } from './csv.ts'
import { currency } from './currency.ts'
import { entityLegalForm } from './entity-legal-form.ts'
import type { EntryType } from './entry-type.ts'
import { euCsv } from './eu-csv.ts'
import { euXml } from './eu-xml.ts'
import { fatfLists } from './fatf.ts'
import { gleifLevel1 } from './gleif-level-1.ts'
import { gleifLevel2 } from './gleif-level-2.ts'
import { industryCode } from './industry-code.ts'
import { iso3166 } from './iso-3166.ts'
import { iso4217 } from './iso-4217.ts'
import { iso20275 } from './iso-20275.ts'
import { json, ndjson } from './json.ts'
import { jurisdictionList } from './jurisdiction-list.ts'
import { leiRecord } from './lei-record.ts'
import { leiRelationship } from './lei-relationship.ts'
import { mcc } from './mcc.ts'
import { merchantCategory } from './merchant-category.ts'
import { nace } from './nace.ts'
import { naics } from './naics.ts'
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
const codes = [iso20275, mcc, naics, nace]
const entities = [gleifLevel1, gleifLevel2]

export const adapters: ReadonlyMap<string, Adapter> = new Map(
  [...generic, ...sanctions, ...reference, ...codes, ...entities].map((adapter) => [adapter.key, adapter]),
)

/** By type_key; every `target_type` of an adapter is one of these. */
export const entryTypes: ReadonlyMap<string, EntryType> = new Map(
  [
    ...[sanctionedParty, jurisdictionList, country, currency, countryScore],
    ...[entityLegalForm, merchantCategory, industryCode, leiRecord, leiRelationship],
  ].map((type) => [type.type_key, type]),
)
