/** The client library under test, as a protocol of JSON lines in adapter.md of this module. */
package io.eventbus.conformance.testee;
