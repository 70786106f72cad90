/**
 * Turns what the experiments with moving clients found into tables for the terminal, JSON and a
 * page with plots, and compares it with what is to be reached.
 */
package io.eventbus.loadtest.switching.report;
