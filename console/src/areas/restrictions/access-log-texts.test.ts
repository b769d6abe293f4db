import { expect, test } from 'vitest'
import { describeAccess } from './access-log-texts.ts'

test('an entry of the access log is a sentence', () => {
  expect(describeAccess('createBreakGlassAccess', 'restrictions')).toBe('Gave an auditor emergency access')
  expect(describeAccess('getAlert', 'alerts')).toBe('Read the alert')
  expect(describeAccess('getInvestigation', 'investigations')).toBe('Read the case')
  expect(describeAccess('listDocumentCustody', 'documents')).toBe('Read the document: custody')
  expect(describeAccess('getDocumentContent', 'documents')).toBe('Read the document: content')
  expect(describeAccess('dismissAlert', 'alerts')).toBe('Dismissed the alert')
  expect(describeAccess('assignInvestigation', 'investigations')).toBe('Assigned the case')
  expect(describeAccess('verifyDocument', 'documents')).toBe('Verified the document')
  expect(describeAccess('updateInvestigationNarrative', 'investigations')).toBe('Changed the case narrative')
  expect(describeAccess('getProviderCall', 'providers')).toBe('Read the provider call')
})
