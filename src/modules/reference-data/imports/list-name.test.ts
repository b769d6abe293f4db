/** Names that are suggested for a new list. */
import { expect, test } from 'vitest'
import { adapters } from '#registry/adapters/index.ts'
import { suggestListName } from './list-name.ts'

test.each([
  ['ofac-sdn-csv', 'ofac-sdn', 'OFAC SDN list'],
  ['ofac-sdn-advanced-xml', 'ofac-sdn', 'OFAC SDN list'],
  ['eu-consolidated-xml', 'eu-consolidated', 'EU consolidated financial sanctions list'],
  ['gleif-lei', 'gleif-lei', 'GLEIF legal entities (level 1)'],
])('the publisher of %s gives the list its name', (adapter_key, list_key, title) => {
  expect(suggestListName(adapters.get(adapter_key), 'sdn-2021-08-18T0939Z.zip')).toEqual({ list_key, title })
})

test.each([
  ['sdn-2021-08-18T0939Z.zip', 'sdn', 'Sdn'],
  ['20260922-FULL-1_0.csv', 'full', 'FULL'],
  ['Country scores_2026.csv', 'country-scores', 'Country scores'],
  ['peps_2026-q1 (2).xlsx', 'peps', 'Peps'],
  ['ratings v2.1.json', 'ratings', 'Ratings'],
  ['register 31.12.2025.tar.gz', 'register', 'Register'],
  ['iso-3166.csv', 'iso-3166', 'Iso 3166'],
  ['vessels.csv', 'vessels', 'Vessels'],
  ['2026.csv', 'new-list', 'New list'],
  [null, 'new-list', 'New list'],
])('the file %s gives the list its name without its edition', (file_name, list_key, title) => {
  expect(suggestListName(adapters.get('csv'), file_name)).toEqual({ list_key, title })
})
