import { expect, test } from 'vitest'
import { describeXmlError, findAnswerFault } from './answer-text.ts'

test('locates what is not JSON in an answer that says it is', () => {
  expect(findAnswerFault('yes they did it', 'application/json')).toBe(
    'This is not valid JSON: look at line 1, column 1.',
  )
  expect(findAnswerFault('{"accepted": true}', 'application/json')).toBeNull()
  expect(findAnswerFault('yes they did it', 'text/plain')).toBeNull()
  expect(findAnswerFault('  ', 'text/plain')).toBe('Enter the answer.')
})

test('locates a fault of XML in the words of each browser', () => {
  const place = 'This is not valid XML: look at line 2, column 5.'
  expect(describeXmlError('error on line 2 at column 5: Opening and ending tag mismatch')).toBe(place)
  expect(describeXmlError('XML Parsing Error: mismatched tag.\nLocation: x\nLine Number 2, Column 5:')).toBe(place)
  expect(describeXmlError('')).toBe('This is not valid XML.')
})
