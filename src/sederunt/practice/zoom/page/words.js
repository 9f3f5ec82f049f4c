// Every text the practice site shows, in one table.
"use strict";

(() => {
  /** @type {ZoomPractice} */
  const practice = window.practice;

  /** @type {Record<string, { text: string, title?: string, modal?: boolean, button?: string }>} */
  const ENDS = {
    denied: { text: "You have been removed from this meeting by the host.", modal: true, button: "OK" },
    nobody_answered: { text: "You have been removed from this meeting by the host.", modal: true, button: "OK" },
    blocked: { text: "Automated bots aren't allowed to join this meeting.", modal: true, button: "Sign In" },
    locked: { text: "Host has locked this meeting.", title: "Unable to join this meeting", modal: true, button: "OK" },
    full: { text: "Meeting capacity has been reached", modal: true, button: "OK" },
    problem: { text: "Joining Meeting Timeout or Browser restriction", modal: true, button: "Retry" },
    invalid: { text: "This meeting link is invalid (3,001)", title: "Error - Zoom" },
    already_over: { text: "The meeting has been ended", modal: true, button: "OK" },
    sign_in: { text: "Sign in to join this meeting" },
    removed: { text: "You have been removed from this meeting by the host.", modal: true, button: "OK" },
    over: { text: "This meeting has been ended by host", modal: true, button: "OK" },
    left: { text: "You have left the meeting." },
  };

  const WAITING = {
    lobby: "Please wait, the meeting host will let you in soon.",
    waiting_for_host: "Waiting for the host to start the meeting.",
    host_elsewhere: "The host has another meeting in progress",
  };

  /** @type {Record<string, { text: string, more: string }>} */
  const NOTICES = {
    recording: {
      text: "This meeting is being recorded",
      more: "By staying in this meeting, you consent to being recorded.",
    },
    companion: { text: "AI Companion is on", more: "By continuing to be in the meeting, you are consenting to this." },
  };

  let curly = false;

  /** @param {string} text */
  function say(text) {
    return curly ? text.replaceAll("'", "’") : text;
  }

  practice.words = { ENDS, WAITING, NOTICES, say, useCurly: (/** @type {boolean} */ yes) => (curly = yes) };
})();
